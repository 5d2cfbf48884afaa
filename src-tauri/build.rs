//! Points Tauri at the permissions and capabilities of `src-tauri` and keeps the repository's root clean.
use std::{env, fs, path::Path};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let dist = Path::new(&root).join("ui/dist");
    // `cargo test` and `cargo clippy` must work before `npm run build`: tauri refuses a missing front end.
    if !dist.join("index.html").exists() {
        fs::create_dir_all(&dist).expect("ui/dist can be made");
        fs::write(
            dist.join("index.html"),
            "<!doctype html><title>Placet</title>The window was not built: cargo xtask run builds it.",
        )
        .expect("ui/dist can be written");
    }
    // tauri-build watches ./capabilities only.
    for path in ["src-tauri/capabilities", "src-tauri/permissions", "ui/dist"] {
        println!("cargo:rerun-if-changed={path}");
    }
    tauri_build::try_build(
        tauri_build::Attributes::new().capabilities_path_pattern("./src-tauri/capabilities/**/*").app_manifest(
            tauri_build::AppManifest::new().permissions_path_pattern("./src-tauri/permissions/**/*.toml"),
        ),
    )
    .expect("tauri-build");
    // Schemas for editors; the compiler reads copies in OUT_DIR.
    let (from, to) = (Path::new(&root).join("gen"), Path::new(&root).join("src-tauri/gen"));
    if from.exists() {
        let _ = fs::remove_dir_all(&to);
        fs::rename(&from, &to).expect("gen can be moved");
    }
}
