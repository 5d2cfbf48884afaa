//! The real window, on a screen in memory, driven through WebDriver as a person would.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine;
use serde_json::{Value, json};

use crate::ground::Ground;
use crate::program::{eventually, kill_group, placet_desktop};

pub(crate) const SHOWN_WITHIN: Duration = Duration::from_secs(20);
/// The name under which WebDriver hands out elements.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// An X server without a display.
pub struct Screen {
    server: Child,
    display: String,
}

impl Screen {
    /// Starts one on a number that is free.
    pub fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x820x24", "-nolisten", "tcp"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb (apt: xvfb)");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb found no free display");
        Self { server, display: format!(":{}", number.trim()) }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The app with its window, under a driver.
pub struct Window {
    agent: ureq::Agent,
    session: String,
    driver: Child,
    _screen: Screen,
}

/// Another list of users, and the programs in another folder; then the rest of the words is run.
const SHOWN_OTHERWISE: &str = "mount --bind \"$0\" /etc/passwd && mount -t tmpfs -o mode=0755 none /mnt && mkdir /mnt/placet \
    && mount --bind \"$1\" /mnt/placet && shift && exec \"$@\"";

impl Window {
    /// Opens the app on this ground.
    pub fn open(ground: &Ground) -> Self {
        Self::open_with(ground, &[])
    }

    /// Opens the app on this ground with further flags.
    pub fn open_with(ground: &Ground, flags: &[&str]) -> Self {
        let flags: Vec<String> = ground.flags().into_iter().chain(flags.iter().map(ToString::to_string)).collect();
        Self::start(Command::new("WebKitWebDriver"), ground, &placet_desktop(), &flags)
    }

    /// Opens the app without flags, for a person whose home is this ground's: the system is shown another list of users.
    /// The programs are shown in `/mnt`, since none of a temporary folder is ever put into a client's settings, and this
    /// checkout may lie in one.
    pub fn open_at_home(ground: &Ground) -> Self {
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
        let mut command = Command::new("unshare");
        if !is_root {
            command.args(["--user", "--keep-caps", "--map-current-user"]);
        }
        let program = placet_desktop();
        let (folder, name) = (program.parent().unwrap(), program.file_name().unwrap());
        command.args(["--mount", "sh", "-c", SHOWN_OTHERWISE]).arg(ground.users()).arg(folder);
        command.arg("WebKitWebDriver").env("HOME", ground.home());
        Self::start(command, ground, &Path::new("/mnt/placet").join(name), &[])
    }

    fn start(mut command: Command, ground: &Ground, program: &Path, flags: &[String]) -> Self {
        let screen = Screen::start();
        let port = free_port();
        command.arg(format!("--port={port}")).arg("--host=127.0.0.1");
        command.env("DISPLAY", &screen.display).env("GDK_BACKEND", "x11");
        command.env("TAURI_AUTOMATION", "true").env("TAURI_WEBVIEW_AUTOMATION", "true");
        // Drawn by the CPU the window is up sooner, and screenshots work.
        command.env("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1");
        for (name, folder) in [("XDG_DATA_HOME", "xdg-data"), ("XDG_CACHE_HOME", "xdg-cache")] {
            command.env(name, ground.path().join(folder));
        }
        command.env_remove("WAYLAND_DISPLAY");
        // Where there is no bus one is started, which nobody ends: each keeps a process and a watch on files.
        command.env("DBUS_SESSION_BUS_ADDRESS", "disabled:").env("NO_AT_BRIDGE", "1").env("GTK_A11Y", "none");
        // The app and the web view's helpers inherit the group, so that all of them can be ended together.
        let driver = command.stdin(Stdio::null()).process_group(0).spawn().expect("webkit2gtk-driver (apt)");

        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(SHOWN_WITHIN * 3));
        let agent: ureq::Agent = config.build().into();
        let root = format!("http://127.0.0.1:{port}");
        eventually(SHOWN_WITHIN, "the driver", || agent.get(format!("{root}/status")).call().ok());
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "webkitgtk:browserOptions": {"binary": program, "args": flags}}}});
        let mut window = Self { agent, session: root, driver, _screen: screen };
        let opened = window.post("session", &capabilities).expect("the app opens");
        let id = opened["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {opened}"));
        window.session = format!("{}/session/{id}", window.session);
        window
    }

    /// Clicks on what has this `data-testid`, once it is there.
    pub fn click(&self, testid: &str) {
        let element = self.wait_for(testid);
        self.post(&format!("element/{element}/click"), &json!({})).unwrap_or_else(|error| panic!("{testid}: {error}"));
    }

    /// Types into what has this `data-testid`.
    pub fn type_into(&self, testid: &str, text: &str) {
        let element = self.wait_for(testid);
        self.post(&format!("element/{element}/value"), &json!({"text": text})).unwrap();
    }

    /// The text of what has this `data-testid`, as it is shown.
    pub fn text(&self, testid: &str) -> String {
        self.of(testid, "text").as_str().unwrap_or_default().to_owned()
    }

    /// An attribute of what has this `data-testid`.
    pub fn attribute(&self, testid: &str, name: &str) -> Option<String> {
        self.of(testid, &format!("attribute/{name}")).as_str().map(str::to_owned)
    }

    /// How many there are with this `data-testid`.
    pub fn count(&self, testid: &str) -> usize {
        let found = self.post("elements", &by_testid(testid)).unwrap();
        found.as_array().map_or(0, Vec::len)
    }

    /// Waits until there are so many.
    pub fn until_count(&self, testid: &str, count: usize) {
        eventually(SHOWN_WITHIN, &format!("{count} × {testid}"), || (self.count(testid) == count).then_some(()));
    }

    /// Waits until an attribute has this value.
    pub fn until_attribute(&self, testid: &str, name: &str, value: Option<&str>) {
        eventually(SHOWN_WITHIN, &format!("{testid} with {name} {value:?}"), || {
            (self.attribute(testid, name).as_deref() == value).then_some(())
        });
    }

    /// What a script gives, run in the page.
    pub fn script(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []})).unwrap()
    }

    /// What a script gives to its last argument, a function, run in the page.
    pub fn script_async(&self, script: &str) -> Value {
        self.post("execute/async", &json!({"script": script, "args": []})).unwrap()
    }

    /// Writes what is on the screen to a PNG file.
    pub fn screenshot(&self, to: &Path) {
        // What is photographed is the frame that was painted last: let two pass.
        let two_frames = "const done = arguments[arguments.length - 1];
            requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        self.post("execute/async", &json!({"script": two_frames, "args": []})).unwrap();
        let png = self.get("screenshot").unwrap();
        let png = base64::engine::general_purpose::STANDARD.decode(png.as_str().unwrap()).unwrap();
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, png).unwrap();
    }

    /// Lets an input device act.
    pub(crate) fn act(&self, device: &Value) {
        self.post("actions", &json!({"actions": [device]})).unwrap();
    }

    /// Ends the app and all its helpers at once, as a crash would.
    pub fn crash(self) {
        kill_group(self.driver.id());
    }

    /// Something of an element, which may have been drawn anew between finding it and looking at it.
    fn of(&self, testid: &str, what: &str) -> Value {
        eventually(SHOWN_WITHIN, &format!("{what} of {testid}"), || {
            let found = self.post("element", &by_testid(testid)).ok()?;
            self.get(&format!("element/{}/{what}", found[ELEMENT].as_str()?)).ok()
        })
    }

    fn wait_for(&self, testid: &str) -> String {
        eventually(SHOWN_WITHIN, testid, || {
            let found = self.post("element", &by_testid(testid)).ok()?;
            found[ELEMENT].as_str().map(str::to_owned)
        })
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let answer = self.agent.post(format!("{}/{path}", self.session)).send_json(body);
        Self::read(answer.map_err(|error| error.to_string())?)
    }

    fn get(&self, path: &str) -> Result<Value, String> {
        let answer = self.agent.get(format!("{}/{path}", self.session)).call();
        Self::read(answer.map_err(|error| error.to_string())?)
    }

    fn read(mut answer: ureq::http::Response<ureq::Body>) -> Result<Value, String> {
        let body = answer.body_mut().with_config().limit(64 << 20).read_json::<Value>();
        let value = body.map_err(|error| error.to_string())?["value"].take();
        if value["error"].is_string() { Err(value.to_string()) } else { Ok(value) }
    }
}

/// Processes that were started with this text in their environment and still run, each by its id and name.
pub fn left_behind(mark: &str) -> Vec<String> {
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let holds = |environment: Vec<u8>| environment.windows(mark.len()).any(|part| part == mark.as_bytes());
        if std::fs::read(entry.path().join("environ")).is_ok_and(holds) {
            let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            left.push(format!("{} {}", entry.file_name().display(), name.trim()));
        }
    }
    left
}

impl Drop for Window {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let here = crate::house::target().join("window-at-failure.png");
            if let Ok(png) = self.get("screenshot") {
                let png = base64::engine::general_purpose::STANDARD.decode(png.as_str().unwrap_or_default());
                let _ = png.map(|png| std::fs::write(&here, png));
                eprintln!("the window as it was: {}", here.display());
            }
        }
        // Ending the WebDriver session closes the web view, but the app stays by design.
        kill_group(self.driver.id());
        let _ = self.driver.wait();
    }
}

fn by_testid(testid: &str) -> Value {
    json!({"using": "css selector", "value": format!("[data-testid=\"{testid}\"]")})
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
