//! Plug-ins that mean harm: each does one bad thing, beside a plug-in that does none. Each has its named end, the host goes on,
//! and the other plug-in answers in its normal time. The page `docs/hostile.md` is made from these tables.

mod answers;
mod case;
mod declared;
mod granted;
mod limits;
mod made;
pub mod pace;
mod page;
mod reach;
mod room;
mod serve;
mod shown;
mod space;
mod time;
mod unfolds;

use case::Case;

/// All of them, by what they are after.
const GROUPS: [(&str, &[Case]); 5] = [
    ("time", time::CASES),
    ("space", space::CASES),
    ("declared", declared::CASES),
    ("answers", answers::CASES),
    ("reach", reach::CASES),
];

async fn hold(group: &str) {
    let (_, cases) = GROUPS.iter().find(|(name, _)| *name == group).unwrap();
    for case in *cases {
        case::hold(case).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_never_ends_is_stopped() {
    hold("time").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_takes_all_there_is_meets_a_limit() {
    hold("space").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_declared_is_believed_only_where_it_keeps_the_rules() {
    hold("declared").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_answered_is_told_as_what_it_is() {
    hold("answers").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_not_granted_is_out_of_reach() {
    hold("reach").await;
}
