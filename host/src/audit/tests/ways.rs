//! Whoever leads the path of the folder elsewhere hides nothing, and whoever moves it on purpose can say so.

use super::*;
use std::os::unix::fs::symlink;

const START: Event<'static> = Event::Started { operation_id: None };

/// An audit some folders deep, reached through a link of the operator's own, and what was written to it.
struct Deep {
    desk: Desk,
    /// The path that the configuration has.
    dir: PathBuf,
}

impl Deep {
    fn new() -> Self {
        let desk = Desk::new();
        fs::create_dir_all(desk.dir.path().join("one/two/three")).unwrap();
        symlink("one", desk.dir.path().join("way")).unwrap();
        let dir = desk.dir.path().join("way/two/three/audit");
        Self { desk, dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.desk.dir.path().join(path)
    }

    fn options(&self) -> AuditOptions {
        AuditOptions { dir: self.dir.clone(), ..self.desk.options() }
    }

    async fn write(&self) {
        let audit = Audit::open(self.options()).unwrap();
        audit.durable(Some(&subject()), START).await.unwrap();
        audit.close().await.unwrap();
    }

    fn verify(&self, dir: &Path) -> Findings {
        verify(dir, &self.desk.places()).unwrap()
    }

    #[track_caller]
    fn is_whole(&self, dir: &Path, files: usize) {
        let findings = self.verify(dir);
        assert_eq!((&findings.faults[..], findings.files.len()), (&[][..], files), "{findings:?}");
        assert_eq!(astray(dir, &self.desk.places()).unwrap().len(), 0);
    }

    /// That `path` is led to another folder is found out, whoever asks for it by whatever path, and nothing is written there.
    #[track_caller]
    fn is_found_out(&self, what: &str) {
        let base = self.desk.dir.path();
        for dir in [
            self.dir.clone(),
            self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone()),
            base.join("way/./two//three/audit"),
            base.join("kept/../way/two/three/audit"),
        ] {
            let findings = self.verify(&dir);
            let told = |fault: &Finding<Fault>| matches!(&fault.what, Fault::Astray(astray) if astray.files == 1 && astray.is != astray.was);
            assert!(findings.faults.iter().any(told), "{what}, {}: {findings:?}", dir.display());
            assert!(!astray(&dir, &self.desk.places()).unwrap().is_empty());
            let refused = Audit::open(AuditOptions { dir, ..self.desk.options() }).unwrap_err().to_string();
            assert!(refused.contains("leads to") && refused.contains("audit moved"), "{what}: {refused}");
        }
    }
}

#[tokio::test]
async fn a_path_that_is_led_elsewhere_at_any_of_its_folders_is_found_out_and_led_back_it_is_whole() {
    for link in ["one", "one/two", "one/two/three", "one/two/three/audit", "way"] {
        for empty in [true, false] {
            let path = Deep::new();
            path.write().await;
            path.is_whole(&path.dir, 1);
            fs::create_dir(path.at("kept")).unwrap();
            fs::create_dir(path.at("other")).unwrap();
            let rest = match link {
                "one" | "way" => "two/three/audit",
                "one/two" => "three/audit",
                "one/two/three" => "audit",
                _ => "",
            };
            if !empty {
                fs::create_dir_all(path.at("other").join(rest)).unwrap();
            }
            fs::rename(path.at(link), path.at("kept/old")).unwrap();
            symlink(path.at("other"), path.at(link)).unwrap();
            path.is_found_out(link);
            fs::remove_file(path.at(link)).unwrap();
            fs::rename(path.at("kept/old"), path.at(link)).unwrap();
            path.is_whole(&path.dir, 1);
            path.write().await;
            path.is_whole(&path.dir, 2);
        }
    }
}

#[tokio::test]
async fn a_folder_that_is_only_gone_is_missed_and_so_is_one_that_another_stands_in_place_of() {
    for again in [false, true] {
        let path = Deep::new();
        path.write().await;
        fs::rename(path.at("one/two/three"), path.at("old")).unwrap();
        if again {
            fs::create_dir_all(&path.dir).unwrap();
        }
        let faults = path.verify(&path.dir).faults;
        assert!(matches!(faults[..], [Finding { what: Fault::Missing { .. }, .. }]), "{faults:?}");
    }
    // A link that leads nowhere is no folder that could be made.
    let path = Deep::new();
    path.write().await;
    fs::rename(path.at("one/two/three/audit"), path.at("old")).unwrap();
    symlink("nowhere", &path.dir).unwrap();
    let faults = path.verify(&path.dir).faults;
    assert!(matches!(faults[..], [Finding { what: Fault::Missing { .. }, .. }]), "{faults:?}");
}

#[tokio::test]
async fn a_process_that_is_at_work_writes_no_file_to_a_folder_to_which_its_path_was_led() {
    let path = Deep::new();
    let audit = Audit::open(AuditOptions { max_file: LEAST_FILE, ..path.options() }).unwrap();
    let late = Audit::open(path.options()).unwrap();
    audit.durable(Some(&subject()), START).await.unwrap();
    fs::create_dir(path.at("other")).unwrap();
    symlink(path.at("other"), path.at("new")).unwrap();
    fs::rename(path.at("one/two/three/audit"), path.at("old")).unwrap();
    fs::rename(path.at("new"), path.at("one/two/three/audit")).unwrap();
    // The one has a file and the other makes its first.
    let refused = |error: String, words: &str| assert!(error.contains(words), "{error}");
    refused(audit.durable(Some(&subject()), START).await.unwrap_err().0.to_string(), "moved or removed");
    refused(late.durable(Some(&subject()), START).await.unwrap_err().0.to_string(), "leads to");
    assert_eq!(fs::read_dir(path.at("other")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_that_was_moved_takes_its_checkpoints_along_once_that_is_said() {
    // With a link where it was.
    let path = Deep::new();
    path.write().await;
    let (old, new) = (path.at("one/two/three/audit"), path.at("new"));
    fs::rename(&old, &new).unwrap();
    symlink(&new, &old).unwrap();
    assert!(!path.verify(&path.dir).is_whole());
    let places = path.desk.places();
    let said = moved(&path.dir, None, &places).unwrap();
    assert_eq!((said.along, said.stay, said.from.len()), (1, 0, 1));
    path.is_whole(&path.dir, 1);
    path.is_whole(&new, 1);
    path.write().await;
    path.is_whole(&path.dir, 2);
    assert_eq!(moved(&path.dir, None, &places).unwrap(), Moved::default(), "nothing is to be said twice");

    // Under another path, where a process has written meanwhile; later there is a link where it was.
    let path = Deep { dir: path.at("again"), ..path };
    fs::rename(&new, &path.dir).unwrap();
    path.write().await;
    let faults = path.verify(&path.dir).faults;
    assert!(faults.len() == 2 && faults.iter().all(|fault| matches!(fault.what, Fault::NoCheckpoint { .. })));
    let said = moved(&path.dir, Some(&new), &places).unwrap();
    assert_eq!((said.along, said.stay), (2, 0));
    path.is_whole(&path.dir, 3);
    symlink(&path.dir, &new).unwrap();
    path.is_whole(&new, 3);
    // What was lost on the way is not forgiven.
    fs::rename(&path.dir, path.at("last")).unwrap();
    fs::remove_file(fs::read_dir(path.at("last")).unwrap().next().unwrap().unwrap().path()).unwrap();
    symlink(path.at("last"), &path.dir).unwrap();
    assert_eq!(moved(&path.dir, None, &places).unwrap().along, 3);
    let faults = path.verify(&path.dir).faults;
    assert!(matches!(faults[..], [Finding { what: Fault::Missing { .. }, .. }]), "{faults:?}");
}

#[tokio::test]
async fn a_link_that_is_led_to_a_new_folder_leaves_the_old_one_its_checkpoints() {
    let path = Deep::new();
    path.write().await;
    let old = path.dir.canonicalize().unwrap();
    fs::create_dir_all(path.at("2027/two/three/audit")).unwrap();
    fs::remove_file(path.at("way")).unwrap();
    symlink("2027", path.at("way")).unwrap();
    Audit::open(path.options()).unwrap_err();
    let said = moved(&path.dir, None, &path.desk.places()).unwrap();
    assert_eq!((said.along, said.stay), (0, 1));
    path.write().await;
    path.is_whole(&path.dir, 1);
    path.is_whole(&old, 1);
    moved(&path.at("nowhere"), None, &path.desk.places()).unwrap_err();
}

#[tokio::test]
async fn paths_of_other_audits_are_none_of_this_ones_business() {
    let path = Deep::new();
    path.write().await;
    let other = Deep { dir: path.at("other"), ..path };
    other.write().await;
    fs::remove_file(other.at("way")).unwrap();
    other.is_whole(&other.dir, 1);
    symlink("nowhere", other.at("way")).unwrap();
    other.write().await;
    other.is_whole(&other.dir, 2);
}

#[tokio::test]
async fn a_note_that_was_changed_is_a_fault_and_one_that_is_gone_is_made_anew() {
    let path = Deep::new();
    path.write().await;
    let notes = || -> Vec<PathBuf> {
        let all = fs::read_dir(&path.desk.places()[0]).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|entry| entry.is_file()).collect()
    };
    assert_eq!(notes().len(), 2, "the path, and where it leads");
    for note in notes() {
        fs::write(&note, "counterfoil-way 1").unwrap();
        assert_eq!(path.verify(&path.dir).faults.len(), 1);
        assert_eq!(path.verify(&path.dir).faults[0].what, Fault::BadNote);
        assert!(Audit::open(path.options()).unwrap_err().to_string().contains("remove that note"));
        fs::remove_file(&note).unwrap();
    }
    path.write().await;
    assert_eq!(notes().len(), 2);
    path.is_whole(&path.dir, 2);
}
