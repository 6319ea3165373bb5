//! The words that a child says to its parent: one line each, whole or not at all.
//!
//! A line is shorter than what a pipe takes at once, so a child that is killed leaves no half of
//! one between two others.

use super::found::Found;
use gatelog_engine::backend::Durability;
use std::io::Write as _;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A batch was there when the store was opened.
    There(String, Found),
    /// All that is there was said, and nothing was written yet.
    Read,
    /// Every session is open for write.
    Opened,
    /// A batch is about to be issued: number, session, events, class.
    Issue(u64, String, u64, Durability),
    /// The batch of this number, which is issued next, expects this seq.
    Expects(u64, u64),
    /// It is there: number, first seq, lsn.
    Acked(u64, u64, u64),
    /// It is not there and never will be.
    Never(u64),
    /// A session was told that it is at an earlier seq.
    Rewound(String, u64),
    /// It was acknowledged, and the receipt is lost.
    Dropped(u64),
    /// A batch was issued once more, and is there: number, first seq, lsn, events, class.
    Again(u64, u64, u64, u64, Durability),
    /// A sync failed: the store will be opened anew.
    Poisoned,
    /// The store was closed.
    Closed,
    /// Something is wrong, in words.
    Wrong(String),
}

impl Word {
    /// Says it to the parent. A parent that is gone is no reason to go on.
    pub fn say(&self) {
        let mut line = self.line();
        line.push('\n');
        let mut out = std::io::stdout().lock();
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            std::process::exit(4);
        }
    }

    fn line(&self) -> String {
        match self {
            Self::There(session, it) => {
                let number = it.number.map_or("-".to_owned(), |number| number.to_string());
                format!("there {session} {} {number} {} {}", it.first_seq, it.events, it.lsn)
            }
            Self::Read => "read".to_owned(),
            Self::Opened => "opened".to_owned(),
            Self::Issue(number, session, events, class) => {
                format!("issue {number} {session} {events} {}", *class as u8)
            }
            Self::Expects(number, seq) => format!("expects {number} {seq}"),
            Self::Acked(number, first_seq, lsn) => format!("acked {number} {first_seq} {lsn}"),
            Self::Never(number) => format!("never {number}"),
            Self::Rewound(session, next_seq) => format!("rewound {session} {next_seq}"),
            Self::Dropped(number) => format!("dropped {number}"),
            Self::Again(number, first_seq, lsn, events, class) => {
                format!("again {number} {first_seq} {lsn} {events} {}", *class as u8)
            }
            Self::Poisoned => "poisoned".to_owned(),
            Self::Closed => "closed".to_owned(),
            Self::Wrong(what) => {
                let what: String = what.chars().take(2_000).collect();
                format!("wrong {}", what.replace('\n', " "))
            }
        }
    }

    /// Reads a line, if it is one.
    pub fn parse(line: &str) -> Option<Self> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        if verb == "wrong" {
            return Some(Self::Wrong(rest.to_owned()));
        }
        let words: Vec<&str> = rest.split(' ').collect();
        let n = |at: usize| words.get(at)?.parse::<u64>().ok();
        let s = |at: usize| Some((*words.get(at)?).to_owned());
        Some(match verb {
            "there" => {
                let number = n(2);
                let found = Found { first_seq: n(1)?, number, events: n(3)?, lsn: n(4)? };
                Self::There(s(0)?, found)
            }
            "read" => Self::Read,
            "opened" => Self::Opened,
            "issue" => Self::Issue(n(0)?, s(1)?, n(2)?, class(n(3)?)?),
            "expects" => Self::Expects(n(0)?, n(1)?),
            "acked" => Self::Acked(n(0)?, n(1)?, n(2)?),
            "never" => Self::Never(n(0)?),
            "rewound" => Self::Rewound(s(0)?, n(1)?),
            "dropped" => Self::Dropped(n(0)?),
            "again" => Self::Again(n(0)?, n(1)?, n(2)?, n(3)?, class(n(4)?)?),
            "poisoned" => Self::Poisoned,
            "closed" => Self::Closed,
            _ => return None,
        })
    }
}

/// Returns the class of a number.
pub fn class(number: u64) -> Option<Durability> {
    let all = [Durability::Buffered, Durability::Written, Durability::Synced];
    all.into_iter().find(|class| *class as u64 == number)
}
