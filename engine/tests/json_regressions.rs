//! Every input that once set the fuzzer or a property off, and seeds of their kind, is judged by
//! all readers again. The files are under `fuzz/regressions/json_scan`, named for what they show.

#[path = "json_naive/agree.rs"]
mod agree;
#[path = "json_naive/mod.rs"]
mod naive;
#[path = "../../fuzz/regressions.rs"]
mod regressions;

#[test]
fn what_was_found_once_is_judged_alike_by_all() {
    regressions::replay("json_scan", |text| {
        let every_byte: Vec<usize> = (0..text.len()).collect();
        agree::check(text, &every_byte);
    });
}
