//! What single commands mean, down to the files.

use super::*;

#[test]
fn builtin_tables_load_and_are_all_there() {
    assert!(programs().len() >= 300, "{}", programs().len());
    let folder = format!("{}/commands", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().unwrap().strip_suffix(".toml").map(str::to_owned))
        .collect();
    files.sort();
    let mut listed: Vec<String> = super::super::table::BUILTIN.iter().map(|(name, _)| (*name).to_owned()).collect();
    listed.sort();
    assert_eq!(files, listed);
}
