//! `fetch_url`: one request to the address that was judged, and no further.

use std::{
    net::{IpAddr, SocketAddr, ToSocketAddrs as _},
    time::Duration,
};

use placet_domain::subject::{NetworkClass, UrlSubject};
use serde::Deserialize;
use ureq::{
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use super::{
    Output,
    error::{ToolErrorCode, Trouble},
    files::{MAX_RESULT_BYTES, capped},
};

const LIMIT: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchUrl {
    pub(crate) url: String,
    #[serde(default)]
    max_bytes: Option<usize>,
}

impl FetchUrl {
    /// Gets the judged URL. The name is looked up once, every address must be of the kind that was judged, and the
    /// connection goes to one of these. No redirect is followed and no proxy of the environment is used.
    pub(crate) fn run(&self, judged: &UrlSubject) -> Result<Output, Trouble> {
        let addresses: Vec<SocketAddr> = (judged.host.as_str(), judged.port)
            .to_socket_addrs()
            .map_err(|error| ToolErrorCode::Unreachable.because(format!("{} was not found: {error}", judged.host)))?
            .collect();
        for address in &addresses {
            if network_class(address.ip()) != judged.network {
                return Err(ToolErrorCode::AddressNotJudged.because(format!(
                    "{} leads to {}, which is not the kind of address that was judged.",
                    judged.host,
                    address.ip()
                )));
            }
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(LIMIT))
            .build();
        let agent = ureq::Agent::with_parts(config, DefaultConnector::default(), Judged(addresses));
        let unreachable = |error: ureq::Error| ToolErrorCode::Unreachable.because(format!("{}: {error}", judged.host));
        let mut response = agent.get(&judged.normalized).call().map_err(unreachable)?;
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            let text = format!("{status}: this leads to {to}. It is not followed; call fetch_url with that address.\n");
            return Ok(Output { text, is_error: false });
        }
        let most = self.max_bytes.unwrap_or(MAX_RESULT_BYTES).min(MAX_RESULT_BYTES);
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(response.body_mut().as_reader(), most as u64), &mut bytes)?;
        let body = String::from_utf8_lossy(&bytes);
        Ok(Output { text: capped(format!("{status}\n\n{body}")), is_error: !status.is_success() })
    }
}

/// Answers every look-up with the addresses that were judged.
#[derive(Debug)]
struct Judged(Vec<SocketAddr>);

impl Resolver for Judged {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut addresses = self.empty();
        for address in self.0.iter().take(16) {
            addresses.push(*address);
        }
        if self.0.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(addresses) }
    }
}

/// The class of a real address; none for the public internet. An IPv6 address that stands for an IPv4 one is that one.
fn network_class(ip: IpAddr) -> Option<NetworkClass> {
    match ip.to_canonical() {
        IpAddr::V4(v4) => {
            let [a, b, _, _] = v4.octets();
            if v4.octets() == [169, 254, 169, 254] {
                Some(NetworkClass::Metadata)
            } else if v4.is_loopback() || v4.is_unspecified() {
                Some(NetworkClass::Loopback)
            } else if v4.is_link_local() {
                Some(NetworkClass::LinkLocal)
            } else if v4.is_private() || (a == 100 && (64..128).contains(&b)) {
                Some(NetworkClass::Private)
            } else {
                None
            }
        }
        IpAddr::V6(v6) => {
            let [first, second, ..] = v6.segments();
            if v6.is_loopback() || v6.is_unspecified() {
                Some(NetworkClass::Loopback)
            } else if v6.is_unicast_link_local() {
                Some(NetworkClass::LinkLocal)
            } else if v6.is_unique_local() {
                let metadata: std::net::Ipv6Addr = std::net::Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
                Some(if v6 == metadata { NetworkClass::Metadata } else { NetworkClass::Private })
            } else if (first, second) == (0x64, 0xff9b) || first == 0x2002 {
                let octets = v6.octets();
                let at = if first == 0x2002 { 2 } else { 12 };
                network_class(IpAddr::from([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]]))
            } else {
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use placet_domain::Action;
    use std::io::{Read as _, Write as _};

    fn judged(port: u16, host: &str, network: Option<NetworkClass>) -> UrlSubject {
        UrlSubject {
            action: Action::Fetch,
            asked: format!("http://{host}:{port}/x"),
            normalized: format!("http://{host}:{port}/x"),
            scheme: "http".into(),
            host: host.into(),
            host_unicode: None,
            registrable_domain: None,
            port,
            path: "/x".into(),
            has_query: false,
            network,
            odd: false,
        }
    }

    fn answering(answer: &'static str) -> u16 {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0_u8; 2048];
            let _ = stream.read(&mut head);
            stream.write_all(answer.as_bytes()).unwrap();
        });
        port
    }

    fn fetch() -> FetchUrl {
        FetchUrl { url: String::new(), max_bytes: None }
    }

    #[test]
    fn a_redirect_is_told_and_not_followed() {
        let port = answering("HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n");
        let output = fetch().run(&judged(port, "127.0.0.1", Some(NetworkClass::Loopback))).unwrap();
        assert!(output.text.contains("leads to http://169.254.169.254/"), "{}", output.text);
    }

    #[test]
    fn a_name_that_leads_to_another_kind_of_address_is_not_connected_to() {
        let trouble = fetch().run(&judged(9, "localhost", None)).unwrap_err();
        assert_eq!(trouble.code, ToolErrorCode::AddressNotJudged);
    }

    #[test]
    fn a_page_is_read() {
        let port = answering("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
        let output = fetch().run(&judged(port, "127.0.0.1", Some(NetworkClass::Loopback))).unwrap();
        assert_eq!(output.text, "200 OK\n\nhello");
    }

    #[test]
    fn mapped_and_translated_addresses_have_the_class_of_what_they_stand_for() {
        for (text, class) in [
            ("::ffff:127.0.0.1", Some(NetworkClass::Loopback)),
            ("64:ff9b::a9fe:a9fe", Some(NetworkClass::Metadata)),
            ("2002:0a00:0001::", Some(NetworkClass::Private)),
            ("100.64.0.1", Some(NetworkClass::Private)),
            ("fe80::1", Some(NetworkClass::LinkLocal)),
            ("93.184.216.34", None),
        ] {
            assert_eq!(network_class(text.parse().unwrap()), class, "{text}");
        }
    }
}
