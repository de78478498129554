//! What one place for checkpoints knows and another does not.

use super::*;

/// Three processes, the first of which had one place only.
async fn three_files(desk: &Desk) -> Vec<PathBuf> {
    let places = vec![desk.places().remove(0), desk.dir.path().join("further")];
    for at in 0..3 {
        desk.clock.advance(1_000);
        let checkpoints = if at == 0 { desk.places() } else { places.clone() };
        everything(&Audit::open(AuditOptions { checkpoints, ..desk.options() }).unwrap()).await;
    }
    assert_eq!(verify(&desk.audit_dir(), &places).unwrap().faults, []);
    places
}

#[tokio::test]
async fn whichever_checkpoints_are_taken_from_one_place_the_other_tells() {
    let desk = Desk::new();
    let places = three_files(&desk).await;
    let names: Vec<String> =
        desk.files().iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    for (at, place) in places.iter().enumerate() {
        let folder = checkpoint::folder(place, &desk.audit_dir().canonicalize().unwrap());
        // The oldest that it has, the one behind, and both.
        for taken in [vec![1], vec![2], vec![1, 2]] {
            let kept: Vec<(PathBuf, Vec<u8>)> = taken
                .iter()
                .map(|at| folder.join(checkpoint::name_for(&names[*at])))
                .map(|path| (path.clone(), fs::read(path).unwrap()))
                .collect();
            kept.iter().for_each(|(path, _)| fs::remove_file(path).unwrap());
            let faults = verify(&desk.audit_dir(), &places).unwrap().faults;
            let none = |at: &usize| Finding {
                file: names[*at].clone(),
                line: None,
                what: Fault::NoCheckpoint { place: place.clone() },
            };
            let expected: Vec<Finding<Fault>> = if (at, taken.len()) == (1, 2) {
                vec![Finding { file: place.display().to_string(), line: None, what: Fault::EmptyPlace }]
            } else {
                taken.iter().map(none).collect()
            };
            assert_eq!(faults, expected);
            kept.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        }
    }
    assert_eq!(verify(&desk.audit_dir(), &places).unwrap().faults, []);
}

#[tokio::test]
async fn a_place_that_was_named_late_or_left_out_for_a_while_owes_nothing_for_that_time() {
    let desk = Desk::new();
    let places = three_files(&desk).await;
    desk.clock.advance(1_000);
    everything(&desk.open()).await;
    let third = [places.clone(), vec![desk.dir.path().join("third")]].concat();
    assert_eq!(verify(&desk.audit_dir(), &third).unwrap().faults, [], "nothing was recorded since it was named");
    desk.clock.advance(1_000);
    everything(&Audit::open(AuditOptions { checkpoints: third.clone(), ..desk.options() }).unwrap()).await;
    for places in [&third[..], &places, &desk.places()] {
        assert_eq!(verify(&desk.audit_dir(), places).unwrap().faults, []);
    }
    // A place that is led elsewhere is the same one, by its path.
    fs::create_dir(desk.dir.path().join("empty")).unwrap();
    fs::rename(&third[2], desk.dir.path().join("aside")).unwrap();
    std::os::unix::fs::symlink("empty", &third[2]).unwrap();
    let faults = verify(&desk.audit_dir(), &third).unwrap().faults;
    assert!(faults.len() == 1 && faults[0].what == Fault::EmptyPlace, "{faults:?}");
    let many = (0..9).map(|at| desk.dir.path().join(format!("place{at}"))).collect();
    let refused = Audit::open(AuditOptions { checkpoints: many, ..desk.options() }).unwrap_err();
    assert!(refused.to_string().contains("8 places"), "{refused}");
}
