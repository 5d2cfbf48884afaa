//! `cargo xtask package`: a Debian package of the window and the command, and the command alone as a static program.

use crate::program::Program;
use crate::{front_end, house, system};

/// Where the window's package ends up, under the target folder.
const PACKAGES: &str = "release/bundle/deb";

pub(crate) fn run() -> Result<(), String> {
    system::set_up_to_run()?;
    front_end::install_packages()?;
    let tauri = house::ui().join("node_modules/.bin/tauri");
    let tauri = tauri.to_str().ok_or("the path of the repository is no text")?;
    Program::new(&[tauri, "build", "--bundles", "deb"]).run()?;
    let command = build_static_command()?;
    println!("\n{}\n{}", house::target().join(PACKAGES).display(), command.display());
    Ok(())
}

/// Builds `placet` as a static program, in a target folder of its own: other flags there would make cargo compile
/// everything anew here. Linking statically takes a third off the time of a hook call.
pub(crate) fn build_static_command() -> Result<std::path::PathBuf, String> {
    build_static(&["--package", "placet-cli"])?;
    Ok(static_programs().join("placet"))
}

/// Builds the program that measures the rooms by themselves, with the same settings.
pub(crate) fn build_static_measure() -> Result<std::path::PathBuf, String> {
    build_static(&["--package", "placet-gate", "--example", "measure"])?;
    Ok(static_programs().join("examples/measure"))
}

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

fn build_static(what: &[&str]) -> Result<(), String> {
    Program::cargo(&[&["build", "--release", "--locked", "--target", TRIPLE], what].concat())
        .with("CARGO_TARGET_DIR", house::target().join("static"))
        .with("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=+crt-static\u{1f}-Crelocation-model=static")
        .run()
}

fn static_programs() -> std::path::PathBuf {
    house::target().join("static").join(TRIPLE).join("release")
}
