//! Web addresses: parsed as WHATWG says, then made comparable and looked at for what other programs read differently.

use std::net::{Ipv4Addr, Ipv6Addr};

use placet_domain::subject::{NetworkClass, UrlSubject};
use placet_domain::{Action, Flag, Refused, RefusedCode};
use url::{Host, Url};

use crate::character::{is_mixed, text_flags};

/// What was found out about one address.
pub(crate) struct UrlLook {
    pub(crate) subject: UrlSubject,
    pub(crate) refused: Option<Refused>,
    pub(crate) flags: Vec<Flag>,
    /// What a person should know of it, in sentences.
    pub(crate) notes: Vec<String>,
}

/// Looks at an address that a call names.
pub(crate) fn look(asked: &str, action: Action) -> UrlLook {
    let mut flags = Vec::new();
    let mut notes = Vec::new();
    text_flags(asked, &mut flags);
    if asked.contains(['\t', '\n', '\r']) {
        flags.push(Flag::ControlCharsRemoved);
        notes.push("Tabs and line breaks inside an address are dropped by some programs and not by others.".to_owned());
    }
    let refuse = |code, reason: &str| Some(Refused { code, reason: reason.to_owned() });
    if asked.trim().is_empty() {
        let refused = refuse(RefusedCode::EmptySubject, "The call names no address. Name one.");
        return UrlLook { subject: unparsed(asked, action), refused, flags, notes };
    }
    let Ok(mut url) = Url::parse(asked) else {
        let refused = refuse(
            RefusedCode::UrlUnparseable,
            "This is no web address that could be parsed. Write it in full: https://host/path.",
        );
        return UrlLook { subject: unparsed(asked, action), refused, flags, notes };
    };
    url.set_fragment(None);
    if !matches!(url.scheme(), "http" | "https") {
        let refused = refuse(
            RefusedCode::SchemeNotAllowed,
            "Only http and https addresses can be judged. For a file, use the tool that reads files.",
        );
        let mut subject = unparsed(asked, action);
        url.scheme().clone_into(&mut subject.scheme);
        url.as_str().clone_into(&mut subject.normalized);
        return UrlLook { subject, refused, flags, notes };
    }
    let mut refused = None;
    let mut odd = is_odd(asked, &url);
    if !url.username().is_empty() || url.password().is_some() {
        refused = refuse(
            RefusedCode::UrlUserinfoForbidden,
            "The address has a name or password before “@”: the host is what stands behind it. Leave that part out.",
        );
        odd = true;
        let _ = url.set_username("");
        let _ = url.set_password(None);
    }
    if before_path(asked).contains('\\') {
        flags.push(Flag::BackslashInAuthority);
        notes.push("A backslash in an address is read as “/” by some programs and not by others.".to_owned());
        odd = true;
    }
    let host = comparable_host(&url);
    if let Some(name) = host.name.as_deref() {
        if is_malformed(name) {
            refused = refused.or_else(|| {
                refuse(
                    RefusedCode::UrlMalformedHost,
                    "The host has an empty or overlong part between dots. Write it plainly.",
                )
            });
        } else if url.host_str().is_some_and(|h| h.ends_with('.')) {
            let _ = url.set_host(Some(name));
        }
    }
    if host.is_translated {
        notes.push(format!("This IPv6 address stands for the IPv4 address {}.", host.text));
        odd = true;
    }
    let network = network_of(&host);
    flags.extend(network.map(|class| match class {
        NetworkClass::Loopback => Flag::LoopbackHost,
        NetworkClass::Private => Flag::PrivateHost,
        NetworkClass::LinkLocal => Flag::LinkLocalHost,
        NetworkClass::Metadata => Flag::MetadataHost,
    }));
    let host_unicode = host.name.as_deref().and_then(unicode_form);
    if let Some(unicode) = &host_unicode {
        flags.push(Flag::Idn);
        notes.push("The host has letters that are not plain Latin; its real name is the one above.".to_owned());
        if unicode.split('.').any(is_mixed) {
            flags.push(Flag::MixedScript);
        }
    }
    if odd {
        flags.push(Flag::NonstandardSpelling);
    }
    if url.scheme() == "http" && network != Some(NetworkClass::Loopback) {
        flags.push(Flag::PlainHttp);
    }
    let has_query = url.query().is_some();
    if has_query {
        flags.push(Flag::HasQuery);
    }
    let port = url.port_or_known_default().unwrap_or_default();
    if !matches!(port, 80 | 443) {
        flags.push(Flag::OddPort);
    }
    let registrable_domain = host.name.as_deref().and_then(psl::domain_str).map(str::to_owned);
    let subject = UrlSubject {
        action,
        asked: asked.to_owned(),
        normalized: url.as_str().to_owned(),
        scheme: url.scheme().to_owned(),
        host: host.text,
        host_unicode,
        registrable_domain,
        port,
        path: url.path().to_owned(),
        has_query,
        network,
        odd,
    };
    UrlLook { subject, refused, flags, notes }
}

/// A host that a command contacts by a protocol of its own: rules for hosts speak of it, grants for addresses do not.
pub(crate) fn look_host(host: &str, action: Action) -> UrlLook {
    let bracketed = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() };
    let look = look(&format!("https://{bracketed}/"), action);
    let mut subject = look.subject;
    host.clone_into(&mut subject.asked);
    subject.normalized.clone_from(&subject.host);
    subject.scheme.clear();
    subject.path.clear();
    subject.port = 0;
    subject.odd |= subject.host.is_empty();
    let mut notes = look.notes;
    if subject.host.ends_with(".invalid") {
        notes.push("Which host this is, only the program's own settings know.".to_owned());
    }
    let flags = look.flags.into_iter().filter(|flag| *flag != Flag::OddPort).collect();
    UrlLook { subject, refused: None, flags, notes }
}

fn unparsed(asked: &str, action: Action) -> UrlSubject {
    UrlSubject {
        action,
        asked: asked.to_owned(),
        normalized: String::new(),
        scheme: String::new(),
        host: String::new(),
        host_unicode: None,
        registrable_domain: None,
        port: 0,
        path: String::new(),
        has_query: false,
        network: None,
        odd: true,
    }
}

/// What stands before the path, query and fragment, as written.
fn before_path(asked: &str) -> &str {
    let start = asked.find("//").map_or_else(|| asked.find(':').map_or(0, |colon| colon + 1), |slashes| slashes + 2);
    let end = asked[start..].find(['/', '?', '#']).map_or(asked.len(), |n| start + n);
    &asked[..end]
}

/// Whether the address is spelled in another way than it is serialized, up to the path: another program may then read
/// another host from it. A written-out default port is plain.
fn is_odd(asked: &str, url: &Url) -> bool {
    if asked.bytes().any(|b| b.is_ascii_control()) || asked.trim() != asked {
        return true;
    }
    let written = before_path(asked);
    let Some((scheme, authority)) = written.split_once("://") else { return true };
    let Some(host) = url.host_str() else { return true };
    let default = if url.scheme() == "https" { 443 } else { 80 };
    let plain = match url.port() {
        Some(port) => vec![format!("{host}:{port}")],
        None => vec![host.to_owned(), format!("{host}:{default}")],
    };
    !scheme.eq_ignore_ascii_case(url.scheme()) || !plain.iter().any(|plain| authority.eq_ignore_ascii_case(plain))
}

/// A host in the form in which rules and grants compare it.
struct ComparableHost {
    text: String,
    /// Set where it is a name, without its trailing dot.
    name: Option<String>,
    address: Option<Address>,
    /// An IPv6 address that stands for an IPv4 one.
    is_translated: bool,
}

enum Address {
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

fn comparable_host(url: &Url) -> ComparableHost {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
            ComparableHost { text: name.clone(), name: Some(name), address: None, is_translated: false }
        }
        Some(Host::Ipv4(address)) => ComparableHost {
            text: address.to_string(),
            name: None,
            address: Some(Address::V4(address)),
            is_translated: false,
        },
        Some(Host::Ipv6(address)) => match stands_for(address) {
            Some(v4) => {
                ComparableHost { text: v4.to_string(), name: None, address: Some(Address::V4(v4)), is_translated: true }
            }
            None => ComparableHost {
                text: address.to_string(),
                name: None,
                address: Some(Address::V6(address)),
                is_translated: false,
            },
        },
        None => ComparableHost { text: String::new(), name: Some(String::new()), address: None, is_translated: false },
    }
}

/// The IPv4 address that an IPv6 one stands for: mapped (RFC 4291), translated (RFC 6052), 6to4 (RFC 3056),
/// Teredo's client (RFC 4380), the deprecated compatible form.
fn stands_for(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Some(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xFFFF | 0, high, low] if (high, low) != (0, 0) && (high, low) != (0, 1) => v4(high, low),
        [0, 0, 0, 0, 0, 0xFFFF, high, low]
        | [0, 0, 0, 0, 0xFFFF, 0, high, low]
        | [0x64, 0xFF9B, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        [0x2001, 0, .., high, low] => v4(!high, !low),
        _ => None,
    }
}

fn is_malformed(name: &str) -> bool {
    name.is_empty() || name.len() > 253 || name.split('.').any(|label| label.is_empty() || label.len() > 63)
}

fn unicode_form(name: &str) -> Option<String> {
    if !name.split('.').any(|label| label.starts_with("xn--")) {
        return None;
    }
    let (unicode, _) = idna::domain_to_unicode(name);
    (unicode != name).then_some(unicode)
}

fn network_of(host: &ComparableHost) -> Option<NetworkClass> {
    match (&host.address, &host.name) {
        (Some(Address::V4(address)), _) => network_of_v4(*address),
        (Some(Address::V6(address)), _) => network_of_v6(*address),
        (None, Some(name)) => network_of_name(name),
        (None, None) => None,
    }
}

fn network_of_v4(address: Ipv4Addr) -> Option<NetworkClass> {
    match address.octets() {
        // AWS, GCP, Azure and others; ECS; Alibaba; Oracle's first generation.
        [169, 254, 169, 254 | 253] | [169, 254, 170, 2 | 23] | [100, 100, 100, 200] | [192, 0, 0, 192] => {
            Some(NetworkClass::Metadata)
        }
        [0 | 127, ..] => Some(NetworkClass::Loopback),
        [169, 254, ..] => Some(NetworkClass::LinkLocal),
        [10 | 224..=255, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] | [198, 18 | 19, ..] => {
            Some(NetworkClass::Private)
        }
        [192, 0, 0, _] => Some(NetworkClass::Private),
        _ => None,
    }
}

fn network_of_v6(address: Ipv6Addr) -> Option<NetworkClass> {
    match address.segments() {
        [0xFD00, 0xEC2, 0, 0, 0, 0, 0, 0x254] | [0xFD20, 0xCE, 0, 0, 0, 0, 0, 0x254] => Some(NetworkClass::Metadata),
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Some(NetworkClass::Loopback),
        [0xFE80..=0xFEBF, ..] => Some(NetworkClass::LinkLocal),
        [0xFC00..=0xFDFF | 0xFEC0..=0xFFFF, ..] => Some(NetworkClass::Private),
        _ => None,
    }
}

fn network_of_name(name: &str) -> Option<NetworkClass> {
    let ends = |suffixes: &[&str]| {
        suffixes
            .iter()
            .any(|suffix| name == *suffix || name.strip_suffix(suffix).is_some_and(|rest| rest.ends_with('.')))
    };
    if ends(&[
        "metadata.google.internal",
        "metadata.goog",
        "metadata",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.azure.com",
        "metadata.azure.internal",
    ]) {
        return Some(NetworkClass::Metadata);
    }
    if ends(&["localhost", "localhost.localdomain", "localhost6.localdomain6"])
        || matches!(name, "ip6-localhost" | "ip6-loopback" | "localhost6")
    {
        return Some(NetworkClass::Loopback);
    }
    let is_local =
        ends(&["local", "internal", "lan", "intranet", "home.arpa", "localdomain", "corp", "home", "private", "test"]);
    (is_local || !name.contains('.') && !name.is_empty()).then_some(NetworkClass::Private)
}

/// The addresses in a text that a client looks through for them (Gemini's `web_fetch` has only a prompt).
pub(crate) fn addresses_in(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let Some(at) = word.find("://") else { continue };
        let start = word[..at]
            .rfind(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'))
            .map_or(0, |i| i + word[i..].chars().next().map_or(1, char::len_utf8));
        let address =
            word[start..].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '>', '`']);
        if !found.iter().any(|known| known == address) {
            found.push(address.to_owned());
        }
    }
    found
}
