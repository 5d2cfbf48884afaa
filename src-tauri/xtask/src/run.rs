//! `cargo xtask run`: the window, with a demo agent waiting for approval.

use crate::program::Program;
use crate::{front_end, house, system};

/// Further words go to the window as they are, for instance `--data-dir D`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    system::set_up_to_run()?;
    front_end::install_packages()?;
    front_end::build_if_stale()?;
    Program::cargo(&["build", "--bin", "placet", "--bin", "placet-desktop"]).run()?;
    let window = house::debug_program("placet-desktop");
    let mut all = vec![window.to_str().ok_or("the path of the target folder is no text")?, "--demo"];
    all.extend(words);
    Program::new(&all).with_terminal().run()
}
