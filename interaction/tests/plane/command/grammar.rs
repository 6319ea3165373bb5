//! What is a command, and what is its input.

use super::support::{By, Desk};
use gatelog_interaction::command::{CommandName, CommandResult, ParsedLine, parse};

fn parsed(line: &str) -> Option<(&str, &str)> {
    parse(line).map(|ParsedLine { name, raw_input }| (name, raw_input))
}

#[test]
fn cg_01_a_line_is_a_command_only_if_its_first_character_is_a_slash() {
    assert_eq!(parsed("/a"), Some(("a", "")));
    for other in ["a", "", "a/a", "\u{feff}/a", "\n/a", "!/a", "\u{2044}a"] {
        assert_eq!(parsed(other), None, "{other:?}");
    }
}

#[test]
fn cg_02_a_name_is_a_lower_case_letter_then_letters_digits_and_dashes() {
    for name in ["a", "z", "a0", "a_", "a-", "az09_-z"] {
        assert_eq!(parsed(&format!("/{name}")), Some((name, "")), "{name}");
        assert_eq!(CommandName::try_from(name).expect("a name").as_str(), name);
    }
    for other in ["", "A", "0", "_", "-", "aB", "a.", "é", "aé", "a ", "/a", "a\n"] {
        let refused = CommandName::try_from(other).expect_err("no name");
        let text = format!("command name \"{other}\" must match /^[a-z][a-z0-9_-]*$/u");
        assert_eq!(refused.to_string(), text);
    }
}

#[test]
fn cg_03_only_the_end_and_four_characters_end_a_name() {
    for boundary in ["\t", "\n", "\r", " "] {
        assert_eq!(parsed(&format!("/a{boundary}")), Some(("a", boundary)), "{boundary:?}");
    }
    let others = (0..=0x3000u32).filter_map(char::from_u32).filter(|character| {
        !matches!(character, '\t' | '\n' | '\r' | ' ' | 'a'..='z' | '0'..='9' | '_' | '-')
    });
    for other in others.chain(['\u{feff}', '\u{1f600}']) {
        assert_eq!(parsed(&format!("/a{other}b")), None, "{other:?}");
    }
}

#[test]
fn cg_04_all_behind_the_name_is_the_input_byte_for_byte() {
    let input = " \t b  c\u{a0}\u{1f600}\r\n /d ";
    assert_eq!(parsed(&format!("/a{input}")), Some(("a", input)));
}

#[test]
fn cg_05_a_bare_command_has_an_empty_input() {
    assert_eq!(parsed("/a-b_1"), Some(("a-b_1", "")));
}

#[test]
fn cg_06_a_line_feed_separates_and_stays() {
    assert_eq!(parsed("/a\nb"), Some(("a", "\nb")));
}

#[test]
fn cg_07_upper_case_a_lone_slash_a_leading_space_and_a_path_are_none() {
    for line in ["/A", "/Ab", "/aB", "/", " /a", "/a/b", "//a", "/ a"] {
        assert_eq!(parsed(line), None, "{line:?}");
    }
}

#[tokio::test]
async fn cg_08_the_handler_is_given_its_arguments_unparsed() {
    let desk = Desk::new();
    let echo = By(|invocation: gatelog_interaction::command::CommandInvocation| async move {
        Ok(CommandResult::text(&*invocation.raw_input))
    });
    let _x = desk.x(echo);
    let input = "  --flag='a b' \"c\n/x";
    let execution = desk.done(&format!("/x{input}")).await;
    assert_eq!(execution.result, CommandResult::text(input));
}

#[test]
fn s_120_four_lines_that_match() {
    for (line, input) in [("/a", ""), ("/a b", " b"), ("/a\nb", "\nb"), ("/a\t", "\t")] {
        assert_eq!(parsed(line), Some(("a", input)), "{line:?}");
    }
}

#[test]
fn s_121_eight_lines_that_do_not() {
    for line in ["/A", "/", " /a", "/a/b", "/1a", "/a\u{a0}", "/a\u{b}", "/a\u{1f600}"] {
        assert_eq!(parsed(line), None, "{line:?}");
    }
}
