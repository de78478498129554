//! What a failed run changed, as it is told: the worse of the tool's word and what the host saw, and who says which.

use crate::tool::{Effect, Observed};

/// The effect that is told, and the words for where it is from. `word`: the tool's own; `None` where it was cut off before
/// it could say any.
pub(super) fn told(word: Option<Effect>, observed: Observed) -> (Effect, String) {
    let seen = match (observed, word) {
        (Observed::Nothing, _) => Effect::None,
        (Observed::Change, _) | (Observed::Unwatched, None) => Effect::Unknown,
        (Observed::Unwatched, Some(word)) => word,
    };
    let sight = match observed {
        Observed::Nothing => "the host saw no call that changes anything",
        Observed::Change => "the host saw a call that can change something",
        Observed::Unwatched => "the host cannot watch this tool",
    };
    let Some(word) = word else { return (seen, sight.to_owned()) };
    let says = match word {
        Effect::None => "the tool says that it changed nothing",
        Effect::Partial => "the tool says that it did a part",
        Effect::Unknown => "the tool says that it does not know what it did",
    };
    let and = if seen > word { "but" } else { "and" };
    (word.max(seen), format!("{says}, {and} {sight}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_of_both_counts_and_the_text_says_who_says_what() {
        use Effect::{None as Nothing, Partial, Unknown};
        for (word, observed, effect, text) in [
            (None, Observed::Nothing, Nothing, "the host saw no call that changes anything"),
            (None, Observed::Change, Unknown, "the host saw a call that can change something"),
            (None, Observed::Unwatched, Unknown, "the host cannot watch this tool"),
            (
                Some(Nothing),
                Observed::Nothing,
                Nothing,
                "the tool says that it changed nothing, and the host saw no call that changes anything",
            ),
            (
                Some(Nothing),
                Observed::Change,
                Unknown,
                "the tool says that it changed nothing, but the host saw a call that can change something",
            ),
            (
                Some(Nothing),
                Observed::Unwatched,
                Nothing,
                "the tool says that it changed nothing, and the host cannot watch this tool",
            ),
            (
                Some(Partial),
                Observed::Nothing,
                Partial,
                "the tool says that it did a part, and the host saw no call that changes anything",
            ),
            (
                Some(Partial),
                Observed::Change,
                Unknown,
                "the tool says that it did a part, but the host saw a call that can change something",
            ),
            (
                Some(Unknown),
                Observed::Change,
                Unknown,
                "the tool says that it does not know what it did, and the host saw a call that can change something",
            ),
        ] {
            assert_eq!(told(word, observed), (effect, text.to_owned()), "{word:?} {observed:?}");
        }
    }
}
