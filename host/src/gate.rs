//! Embeds the gate component: the contract is decided there and nowhere else.
