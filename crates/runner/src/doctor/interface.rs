//! A network interface, as the kernel describes it. Asked by ioctl(2): `/sys/class/net` may be of another network
//! namespace than this process.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_ulong},
    mem,
    net::{IpAddr, Ipv4Addr, UdpSocket},
    os::fd::AsRawFd as _,
    ptr,
};

use serde::{Deserialize, Serialize};

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Its name ("eth0").
    pub name: String,
    /// Bytes of its longest packet.
    pub mtu: Option<u32>,
    /// Megabits per second; `None` where it has no speed of its own.
    pub megabits_per_second: Option<u32>,
    /// What it does for the kernel; `None` where the kernel does not say.
    pub offloads: Option<Offloads>,
}

/// What an interface, or the kernel in one go, does for many packets at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offloads {
    /// TCP segmentation offload: the card cuts long pieces into packets.
    pub tso: bool,
    /// Generic segmentation offload: the kernel does, as late as it can.
    pub gso: bool,
    /// Generic receive offload: the kernel joins packets before it looks at them.
    pub gro: bool,
}

// linux/ethtool.h
const ETHTOOL: c_ulong = 0x8946;
const GET_SETTINGS: u32 = 0x1;
const GET_TSO: u32 = 0x1e;
const GET_GSO: u32 = 0x23;
const GET_GRO: u32 = 0x2b;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// `struct ethtool_cmd`.
#[repr(C)]
#[derive(Default)]
struct Settings {
    command: u32,
    supported: u32,
    advertised: u32,
    speed_low: u16,
    kinds: [u8; 6],
    most_packets: [u32; 2],
    speed_high: u16,
    crossing: [u8; 2],
    partner: u32,
    reserved: [u32; 2],
}

impl Interface {
    /// The one that has `address`; `None` if none has.
    pub fn of(address: IpAddr) -> Option<Self> {
        let name = match name_of(address) {
            Some(name) => name,
            // It has all of 127.0.0.0/8, and lists one.
            None if address.is_loopback() => "lo".to_owned(),
            None => return None,
        };
        // Any socket will do.
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        Some(Self {
            mtu: mtu(&socket, &name),
            megabits_per_second: speed(&socket, &name),
            offloads: offloads(&socket, &name),
            name,
        })
    }
}

fn mtu(socket: &UdpSocket, name: &str) -> Option<u32> {
    let mut request = request(name)?;
    // SAFETY: SIOCGIFMTU reads the name of a live ifreq and writes its ifru_mtu.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFMTU as _, &raw mut request) };
    if done != 0 {
        return None;
    }
    // SAFETY: the call has written this member.
    u32::try_from(unsafe { request.ifr_ifru.ifru_mtu }).ok()
}

fn speed(socket: &UdpSocket, name: &str) -> Option<u32> {
    let mut settings = Settings {
        command: GET_SETTINGS,
        ..Settings::default()
    };
    ask_ethtool(socket, name, (&raw mut settings).cast())?;
    let speed = u32::from(settings.speed_high) << 16 | u32::from(settings.speed_low);
    // SPEED_UNKNOWN, in 32 bits and, from old drivers, in 16.
    (![0, u32::MAX, u32::from(u16::MAX)].contains(&speed)).then_some(speed)
}

fn offloads(socket: &UdpSocket, name: &str) -> Option<Offloads> {
    let is_on = |command| {
        let mut value = Value { command, data: 0 };
        ask_ethtool(socket, name, (&raw mut value).cast())?;
        Some(value.data != 0)
    };
    Some(Offloads {
        tso: is_on(GET_TSO)?,
        gso: is_on(GET_GSO)?,
        gro: is_on(GET_GRO)?,
    })
}

/// `command` is a [`Value`] or [`Settings`] whose command is one that the kernel answers with the same.
fn ask_ethtool(socket: &UdpSocket, name: &str, command: *mut c_char) -> Option<()> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_data = command;
    // SAFETY: the commands read and write the live structure that they are defined for in linux/ethtool.h.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), ETHTOOL as _, &raw mut request) };
    (done == 0).then_some(())
}

fn request(name: &str) -> Option<libc::ifreq> {
    // SAFETY: all-zero is a valid ifreq: a name of no length, and a union of plain values.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // The last byte stays zero.
    if name.len() >= request.ifr_name.len() {
        return None;
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as c_char;
    }
    Some(request)
}

fn name_of(address: IpAddr) -> Option<String> {
    let mut first: *mut libc::ifaddrs = ptr::null_mut();
    // SAFETY: the pointer is to a live variable, which gets a list of the library's.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return None;
    }
    let mut found = None;
    let mut next = first;
    // SAFETY: entries are valid until the list is freed below, and the last one's next is null.
    while let Some(entry) = unsafe { next.as_ref() } {
        if ip_of(entry.ifa_addr) == Some(address) {
            // SAFETY: the name is a string that ends with zero, as long as the list lives.
            let name = unsafe { CStr::from_ptr(entry.ifa_name) };
            found = Some(name.to_string_lossy().into_owned());
            break;
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list is the library's, and nothing refers to it any more.
    unsafe { libc::freeifaddrs(first) };
    found
}

/// `address` is null or that of an entry of getifaddrs(3).
fn ip_of(address: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the caller's promise.
    let family = unsafe { address.as_ref() }?.sa_family;
    match i32::from(family) {
        libc::AF_INET => {
            // SAFETY: an address of this family is a sockaddr_in.
            let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: an address of this family is a sockaddr_in6.
            let address = unsafe { address.cast::<libc::sockaddr_in6>().read_unaligned() };
            Some(address.sin6_addr.s6_addr.into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_as_long_as_the_kernels() {
        assert_eq!(mem::size_of::<Settings>(), 44);
        assert_eq!(mem::offset_of!(Settings, speed_low), 12);
        assert_eq!(mem::offset_of!(Settings, speed_high), 28);
    }

    #[test]
    fn loopback_is_found_by_any_of_its_addresses_and_an_address_of_others_is_not() {
        for address in [[127, 0, 0, 1], [127, 9, 9, 9]] {
            let found = Interface::of(address.into()).unwrap();
            assert_eq!(found.name, "lo");
            assert!(found.mtu > Some(1_000), "{found:?}");
        }
        assert_eq!(Interface::of([192, 0, 2, 1].into()), None);
    }
}
