//! The window.
fn main() {
    tauri::Builder::default()
        .run(tauri::generate_context!())
        .expect("tauri");
}
