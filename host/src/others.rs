//! Who else could change what lies at a path, or put something else in its place: one answer for the whole program.
//!
//! What decides what runs, and the folder that holds it, belongs to this user or to the system, and neither everybody nor a
//! group can write it; a group that has nobody but this user in it is nobody else. Folders further up, and links, belong to this
//! user or to the system as well, and those that everybody can write have the sticky bit. There a group may write: its members
//! could only put in place what is this user's already, since what is theirs is refused.
//!
//! Whoever looks at what another user keeps (an auditor, root) asks as that user would.

mod steps;

pub(crate) use steps::Steps;

use crate::text;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf, absolute};
use std::sync::OnceLock;

/// Whoever writes it has the sticky bit against them: only what is theirs can they take away.
const STICKY: u32 = 0o1000;

/// Who else can write something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    /// Its owner is neither this user nor the system.
    Owner,
    Group,
    Everybody,
}

/// Who asks, as far as it matters who others are.
struct Us {
    user: u32,
    /// The group that has nobody but a user in it, looked up where one can write.
    group: fn(u32) -> Option<u32>,
}

fn us() -> Us {
    Us { user: rustix::process::geteuid().as_raw(), group: own_group }
}

/// Says who else may write a file or folder, where somebody may.
pub(crate) fn can_write(path: &Path, found: &Metadata) -> Option<&'static str> {
    us().writing(path, found)
}

/// The same of what a user keeps, whoever asks.
pub(crate) fn can_write_besides(user: u32, path: &Path, found: &Metadata) -> Option<&'static str> {
    Us { user, group: own_group }.writing(path, found)
}

/// The command that takes the others' right away.
#[cfg(feature = "program")]
pub(crate) fn remedy(path: &Path, found: &Metadata) -> String {
    let name = text::shell(&path.display().to_string());
    if found.mode() & 0o022 == 0 {
        format!("run `chown \"$(id -u)\" {name}`, or use a file of your own")
    } else {
        format!("run `chmod go-w {name}`")
    }
}

/// Says who else may put another file in this one's place, where somebody may, and how to end it.
pub(crate) fn can_replace(path: &Path) -> Option<String> {
    us().replacing(path)
}

/// The same of a directory, which itself may belong to others and be written by them: it can be shared on purpose.
pub(crate) fn can_replace_folder(path: &Path) -> Option<String> {
    us().replacing_folder(path)
}

impl Us {
    fn is_ours(&self, found: &Metadata) -> bool {
        found.uid() == self.user || is_system(found.uid())
    }

    fn writing(&self, path: &Path, found: &Metadata) -> Option<&'static str> {
        Some(match self.other(path, found)? {
            Other::Owner => "belongs to another user",
            Other::Group => "can be written by its group",
            Other::Everybody => "can be written by everybody",
        })
    }

    fn other(&self, path: &Path, found: &Metadata) -> Option<Other> {
        match found.mode() & 0o022 {
            _ if !self.is_ours(found) => Some(Other::Owner),
            0 => None,
            0o020 if (self.group)(self.user) == Some(found.gid()) && !has_list(path) => None,
            0o020 => Some(Other::Group),
            _ => Some(Other::Everybody),
        }
    }

    fn replacing(&self, path: &Path) -> Option<String> {
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        let real = path.canonicalize().ok();
        let holding: Vec<&Path> =
            [Some(&*path), real.as_deref()].into_iter().flatten().filter_map(Path::parent).collect();
        let steps = Steps::of(&path);
        let link = |link: &PathBuf| link.symlink_metadata().is_ok_and(|found| !self.is_ours(&found));
        if let Some(link) = steps.links.iter().find(|at| link(at)) {
            return Some(format!(
                "the link {} belongs to another user, who can turn it: name what it leads to",
                shown(link)
            ));
        }
        steps.folders.iter().find_map(|folder| {
            let found = folder.metadata().ok()?;
            let (other, sticky) = (self.other(folder, &found)?, found.mode() & STICKY != 0);
            let (who, take) = match other {
                Other::Owner => {
                    let folder = shown(folder);
                    return Some(format!(
                        "the folder {folder} belongs to another user, who can replace it: use one of your own"
                    ));
                }
                _ if sticky => return None,
                Other::Group if !holding.contains(&&**folder) => return None,
                Other::Group => ("the folder's group", "g-w"),
                Other::Everybody => ("everybody", "o-w"),
            };
            // Taking one right away must not leave the other to be found next.
            let take = if found.mode() & 0o022 == 0o022 && holding.contains(&&**folder) { "go-w" } else { take };
            Some(format!("{who} can replace it: run `chmod {take} {}`", text::shell(&folder.display().to_string())))
        })
    }

    fn replacing_folder(&self, path: &Path) -> Option<String> {
        self.replacing(path).or_else(|| {
            // The sticky bit keeps others from what is ours only: what is theirs they can rename.
            let real = path.canonicalize().ok()?;
            let holding = real.parent()?;
            let theirs = !self.is_ours(&real.metadata().ok()?);
            (theirs && self.other(holding, &holding.metadata().ok()?).is_some()).then(|| {
                let folder = shown(&real);
                format!("the folder {folder} belongs to another user, who can replace it: use one of your own")
            })
        })
    }
}

fn shown(path: &Path) -> String {
    text::shell(&path.display().to_string())
}

/// Whether this is the system's own user. Where a container or a sandbox does not know the system's user, what belongs to it
/// shows as the user for what is not known.
fn is_system(user: u32) -> bool {
    static UNKNOWN: OnceLock<Option<u32>> = OnceLock::new();
    user == 0 || *UNKNOWN.get_or_init(unknown) == Some(user)
}

/// The user that stands for the system's, where that is not known in here.
fn unknown() -> Option<u32> {
    let users = std::fs::read_to_string("/proc/self/uid_map").ok()?;
    if knows_the_system(&users) {
        return None;
    }
    std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok()
}

/// Whether a map of users (here, outside, how many) has the user 0 of outside in it.
fn knows_the_system(map: &str) -> bool {
    map.lines().any(|line| line.split_whitespace().nth(1) == Some("0"))
}

/// A user's own group, where nobody else is in it.
fn own_group(user: u32) -> Option<u32> {
    use uzers::os::unix::GroupExt as _;
    /// The answer about the user who was asked about first: nearly always this one, for as long as the program runs.
    static FIRST: OnceLock<(u32, Option<u32>)> = OnceLock::new();
    let look_up = || {
        let found = uzers::get_user_by_uid(user)?;
        let group = uzers::get_group_by_gid(found.primary_group_id())?;
        let members: Vec<&str> = group.members().iter().map(|name| name.to_str().unwrap_or_default()).collect();
        is_private(user, found.name().to_str()?, group.name().to_str()?, &members).then_some(group.gid())
    };
    let (about, group) = *FIRST.get_or_init(|| (user, look_up()));
    if about == user { group } else { look_up() }
}

/// Whether a user's group is theirs alone, by the rule by which logging in gives such users files that their group can write:
/// it has their name, and no member but them. The system's user has none.
fn is_private(user: u32, name: &str, group: &str, members: &[&str]) -> bool {
    user != 0 && group == name && members.iter().all(|member| *member == name)
}

/// Whether a list of further users and groups may stand behind what the mode says of the group.
#[cfg(target_os = "linux")]
fn has_list(path: &Path) -> bool {
    use rustix::io::Errno;
    let found = rustix::fs::getxattr(path, "system.posix_acl_access", &mut [] as &mut [u8]);
    !matches!(found, Err(Errno::NODATA | Errno::NOTSUP))
}

#[cfg(not(target_os = "linux"))]
fn has_list(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A folder in a folder with a file in it, closed to others.
    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap());
            fs::create_dir_all(place.at("up/in")).unwrap();
            fs::write(place.at("up/in/file"), "").unwrap();
            for (path, mode) in [("up", 0o755), ("up/in", 0o755), ("up/in/file", 0o644)] {
                place.mode(path, mode);
            }
            place
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn mode(&self, path: &str, mode: u32) {
            fs::set_permissions(self.at(path), Permissions::from_mode(mode)).unwrap();
        }
    }

    fn user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    /// Whose group has others in it.
    fn among_others() -> Us {
        Us { user: user(), group: |_| None }
    }

    /// Whose group, which new files get, has nobody else in it.
    fn alone() -> Us {
        Us { user: user(), group: |_| Some(rustix::process::getegid().as_raw()) }
    }

    #[track_caller]
    fn check(us: &Us, modes: [u32; 3], file: Option<Other>, replaced: Option<&str>) {
        let place = Place::new();
        for (path, mode) in ["up", "up/in", "up/in/file"].into_iter().zip(modes) {
            place.mode(path, mode);
        }
        let path = place.at("up/in/file");
        assert_eq!(us.other(&path, &path.metadata().unwrap()), file, "{modes:?}");
        let said = us.replacing(&path);
        match replaced {
            None => assert_eq!(said, None, "{modes:?}"),
            Some(words) => assert!(said.as_ref().is_some_and(|said| said.contains(words)), "{modes:?}: {said:?}"),
        }
    }

    #[test]
    fn a_file_and_its_folder_are_written_by_nobody_else() {
        let us = among_others();
        check(&us, [0o755, 0o755, 0o644], None, None);
        check(&us, [0o755, 0o755, 0o664], Some(Other::Group), None);
        check(&us, [0o755, 0o755, 0o646], Some(Other::Everybody), None);
        check(&us, [0o755, 0o755, 0o666], Some(Other::Everybody), None);
        check(&us, [0o755, 0o775, 0o644], None, Some("the folder's group can replace it: run `chmod g-w "));
        check(&us, [0o755, 0o757, 0o644], None, Some("everybody can replace it: run `chmod o-w "));
        check(&us, [0o755, 0o777, 0o644], None, Some("everybody can replace it: run `chmod go-w "));
        check(&us, [0o755, 0o1777, 0o644], None, None);
    }

    #[test]
    fn a_folder_further_up_that_everybody_can_write_has_the_sticky_bit() {
        let us = among_others();
        check(&us, [0o777, 0o755, 0o644], None, Some("up`"));
        check(&us, [0o757, 0o755, 0o644], None, Some("everybody can replace it: run `chmod o-w "));
        check(&us, [0o1777, 0o755, 0o644], None, None);
        // What its members could put there is theirs, and refused for that.
        check(&us, [0o775, 0o755, 0o644], None, None);
    }

    #[test]
    fn a_directory_may_be_shared_and_its_place_may_not() {
        let (place, us) = (Place::new(), among_others());
        let said = || us.replacing_folder(&place.at("up/in"));
        place.mode("up/in", 0o777);
        assert_eq!(said(), None);
        place.mode("up", 0o777);
        assert!(said().is_some_and(|said| said.contains("everybody can replace it: run `chmod go-w ")));
        place.mode("up", 0o1777);
        assert_eq!(said(), None);
        if user() == 0 {
            // The sticky bit is no hindrance to the directory's owner.
            rustix::fs::chown(place.at("up/in"), Some(rustix::fs::Uid::from_raw(4242)), None).unwrap();
            assert!(said().is_some_and(|said| said.contains("up/in belongs to another user")));
            place.mode("up", 0o755);
            assert_eq!(said(), None);
        }
    }

    #[test]
    fn a_group_with_nobody_else_in_it_is_nobody_else() {
        let us = alone();
        check(&us, [0o775, 0o775, 0o664], None, None);
        check(&us, [0o775, 0o777, 0o664], None, Some("everybody"));
        check(&us, [0o775, 0o775, 0o666], Some(Other::Everybody), None);
    }

    #[test]
    fn what_belongs_to_somebody_else_is_theirs_to_change() {
        let place = Place::new();
        let path = place.at("up/in/file");
        let stranger = Us { user: user() + 1, group: |_| None };
        // Everything on the way is the system's where the tests are run by it.
        let expected = (user() != 0).then_some(Other::Owner);
        assert_eq!(stranger.other(&path, &path.metadata().unwrap()), expected);
        assert_eq!(stranger.replacing(&path).is_some(), user() != 0);
        if user() == 0 {
            rustix::fs::chown(place.at("up"), Some(rustix::fs::Uid::from_raw(4242)), None).unwrap();
            let said = among_others().replacing(&path).unwrap();
            assert!(said.contains("up belongs to another user"), "{said}");
        }
    }

    #[test]
    fn every_link_on_the_way_is_followed() {
        let place = Place::new();
        fs::create_dir(place.at("open")).unwrap();
        symlink(place.at("open/way"), place.at("up/first")).unwrap();
        symlink(place.at("up/in/file"), place.at("open/way")).unwrap();
        let us = among_others();
        assert_eq!(us.replacing(&place.at("up/first")), None);
        place.mode("open", 0o757);
        let said = us.replacing(&place.at("up/first")).unwrap();
        assert!(said.contains("open`"), "{said}");
        assert_eq!(us.replacing(&place.at("up/in/file")), None);
        assert!(us.replacing(&place.at("open/../up/in/file")).is_some());
        assert!(us.replacing(&place.at("open/not there yet")).is_some());
    }

    #[test]
    fn a_group_is_private_by_the_rule_by_which_its_files_are_made_writable() {
        for (user, name, group, members, private) in [
            (1000, "ada", "ada", &[][..], true),
            (1000, "ada", "ada", &["ada"], true),
            (1000, "ada", "ada", &["ada", "bob"], false),
            (1000, "ada", "ada", &["bob"], false),
            (1000, "ada", "users", &[], false),
            (0, "root", "root", &[], false),
        ] {
            assert_eq!(is_private(user, name, group, members), private, "{name} {group} {members:?}");
        }
    }

    #[test]
    fn the_systems_user_is_known_where_the_map_has_it() {
        assert!(knows_the_system("         0          0 4294967295\n"));
        assert!(!knows_the_system("      1000       1000          1\n"));
        assert!(!knows_the_system("0 1000 1\n1 100000 65536\n"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_list_of_further_users_is_seen() {
        let place = Place::new();
        let path = place.at("up/in/file");
        assert!(!has_list(&path));
        // Version 2; owner and mask read and write, user 4242 reads and writes, group and others read.
        let entries: [(u16, u16, u32); 5] =
            [(1, 6, u32::MAX), (2, 6, 4242), (4, 4, u32::MAX), (16, 6, u32::MAX), (32, 4, u32::MAX)];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in entries {
            list.extend([tag.to_le_bytes(), rights.to_le_bytes()].concat());
            list.extend(id.to_le_bytes());
        }
        let set = rustix::fs::setxattr(&path, "system.posix_acl_access", &list, rustix::fs::XattrFlags::empty());
        assert_eq!(set, Ok(()), "set TMPDIR to a folder on a file system that has access control lists");
        assert!(has_list(&path));
        assert_eq!(alone().other(&path, &path.metadata().unwrap()), Some(Other::Group));
    }
}
