//! What the gate says last of a failure is said to whoever confirmed: that the token is spent. A call that needed no
//! confirmation had none, and its caller is not told to get one.

/// The ends of the gate's standing advice that speak of a token.
const OF_TOKENS: [&str; 2] = [
    "; another try needs a new preview: call again without a token",
    ", and call again without a token to get a new preview",
];

/// The payload of a run that failed and that nobody confirmed. What the tool said stands before the advice.
pub(super) fn unconfirmed(mut payload: String) -> String {
    let last = OF_TOKENS.iter().filter_map(|words| payload.rfind(words).map(|at| (at, words.len()))).max();
    if let Some((at, length)) = last {
        payload.replace_range(at..at + length, "");
    }
    payload
}
