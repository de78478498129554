//! Which addresses a name may lead to. A name is granted for what it names on the network; that it leads into the machine
//! itself, or to what answers machines about themselves, is for whoever owns the name to arrange and was granted by nobody.

use super::HostName;
use rustix::io::Errno;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Addresses beside the link-local ones at which clouds answer a machine about itself, with its keys.
const METADATA: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe)),
];

/// Where a host is without being looked up: an address, or this machine.
pub(super) fn known(host: &HostName) -> Option<Vec<IpAddr>> {
    match host {
        HostName::Address(address) => Some(vec![*address]),
        HostName::Name(_) if host.is_localhost() => Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
        HostName::Name(_) => None,
    }
}

/// Whether an address is this machine's own, of whatever interface: only to such a one can a socket be bound. Nothing is sent. In
/// doubt it is.
pub(super) fn is_own(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let (nobodys, any): (IpAddr, IpAddr) = match address {
        IpAddr::V4(_) => (Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::UNSPECIFIED.into()),
        IpAddr::V6(_) => (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(), Ipv6Addr::UNSPECIFIED.into()),
    };
    if !binds(address) {
        return false;
    }
    if !binds(nobodys) {
        return true;
    }
    // This machine lets everything be bound: its way to its own address begins there.
    let from = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    from.is_ok_and(|from| from.ip() == address)
}

fn binds(address: IpAddr) -> bool {
    match UdpSocket::bind((address, 0)) {
        Ok(_) => true,
        // Not even the family: nothing is connected to then, either.
        Err(error) if error.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error()) => false,
        Err(error) => error.kind() != ErrorKind::AddrNotAvailable,
    }
}

/// Whether a name that was looked up may lead here, as far as the address says.
pub(super) fn may_be_named(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => outside(address),
        IpAddr::V6(address) => {
            let within = address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_unicast_link_local()
                || METADATA.contains(&address.into())
                // All of this network is one cloud's own: the keys of pods beside those of machines.
                || matches!(address.segments(), [0xfd00, 0x0ec2, ..]);
            !within && inner(address).is_none_or(outside)
        }
    }
}

fn outside(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    // 0/8 is this machine, 240/4 nobody's with the broadcast address in it, 192.0.0/24 the protocols' own.
    !(first == 0
        || first >= 240
        || (first, second, third) == (192, 0, 0)
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || METADATA.contains(&address.into()))
}

/// The IPv4 address that an IPv6 one is translated to on its way: NAT64 (the well-known prefix and the local one), stateless
/// translation, 6to4, and the compatible ones of old.
fn inner(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0x64, 0xff9b, 0 | 1, .., high, low]
        | [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_name_leads_neither_into_the_machine_nor_to_what_tells_machines_their_keys() {
        for address in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "192.0.0.192",
            "100.100.100.200",
            "168.63.129.16",
            "::",
            "::1",
            "fe80::1",
            "febf::1",
            "ff02::1",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fd20:ce::254",
            "fd00:c1::a9fe:a9fe",
            "64:ff9b:1::7f00:1",
            "::ffff:0:127.0.0.1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
        ] {
            assert!(!may_be_named(address.parse().unwrap()), "{address}");
        }
        for address in
            ["192.0.2.7", "10.0.0.1", "192.168.1.1", "2001:db8::7", "fd12::1", "64:ff9b::c000:207", "2002:c000:207::"]
        {
            assert!(may_be_named(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_address_of_an_interface_is_the_machines_own() {
        // As every machine has it, on the interface that leads back to it.
        assert!(is_own(Ipv4Addr::LOCALHOST.into()));
        assert!(is_own("::ffff:127.0.0.1".parse().unwrap()));
        for address in ["192.0.2.7", "2001:db8::7", "::ffff:192.0.2.7"] {
            assert!(!is_own(address.parse().unwrap()), "{address}");
        }
        // The one that its way out begins at, where it has one.
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        if socket.connect((Ipv4Addr::new(192, 0, 2, 7), 9)).is_ok() {
            let own = socket.local_addr().unwrap().ip();
            assert!(is_own(own), "{own}");
        }
    }

    #[test]
    fn an_address_and_this_machine_are_not_looked_up() {
        let of = |text| known(&HostName::alone(text).unwrap());
        assert_eq!(of("192.0.2.7"), Some(vec!["192.0.2.7".parse().unwrap()]));
        assert_eq!(of("LOCALHOST."), Some(vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()]));
        assert_eq!((of("example.com"), of("a.localhost")), (None, None));
    }
}
