//! The one way in which files are written and read where somebody else may have a hand in them: a path that was typed,
//! a session folder from elsewhere, a folder that all users of the machine share.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read as _, Write as _},
    os::{
        fd::AsFd as _,
        unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// The most that is read of what is sent, or expected, as a body.
pub const LONGEST_BODY: u64 = 1 << 30;
/// The most that is read of a text that people write: a manifest, a list, a certificate.
pub const LONGEST_TEXT: u64 = 64 << 20;

/// What UTF-8 text from some editors begins with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const AS_UTF_8: &str = "save it as UTF-8";

/// How the names of files begin that are not whole yet. A process that is killed leaves one behind.
pub const UNFINISHED: &str = ".deadheat-";

/// A place for a file, opened: it can be written to.
#[derive(Debug)]
pub struct Destination {
    path: PathBuf,
    place: WriteTarget,
}

#[derive(Debug)]
enum WriteTarget {
    /// Nothing has the name.
    Free,
    /// A file that another one can take the place of, and its path without links.
    Replaceable(File, PathBuf),
    /// A file that stays the same one: it has other names, or another owner, who would lose it.
    Kept(File),
    /// A device, a pipe, or a stream of this process.
    Stream(File),
}

impl Destination {
    /// Opens what `path` leads to, through links, and changes nothing. A pipe waits for its reader.
    ///
    /// # Errors
    /// When it cannot be written to, or no file can be made there.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            // Wherever this process goes before it is written.
            path: std::path::absolute(path)?,
            place: WriteTarget::new(path)?,
        })
    }

    /// Writes the file atomically: to a temporary file in the same folder, which is then renamed. A file that must stay
    /// the same file is written in place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self.place {
            WriteTarget::Free => put(&self.path, bytes, None),
            WriteTarget::Replaceable(file, real) => {
                let mode = file.metadata()?.permissions();
                match put(&real, bytes, Some(mode)) {
                    // The file may be written to, and its folder may not.
                    Err(error) if is_refusal(&error) => overwrite(file, bytes),
                    written => written,
                }
            }
            WriteTarget::Kept(file) => overwrite(file, bytes),
            WriteTarget::Stream(mut file) => file.write_all(bytes),
        }
    }

    /// The file with nothing in it, for what has to be seen as it is written.
    ///
    /// # Errors
    /// When it cannot be made or emptied.
    pub fn begin(self) -> io::Result<File> {
        match self.place {
            WriteTarget::Free => File::create_new(&self.path),
            WriteTarget::Replaceable(file, _) | WriteTarget::Kept(file) => {
                file.set_len(0).map(|()| file)
            }
            WriteTarget::Stream(file) => Ok(file),
        }
    }
}

impl WriteTarget {
    fn new(path: &Path) -> io::Result<Self> {
        if let Some(stream) = own_stream(path)? {
            return Ok(WriteTarget::Stream(stream));
        }
        // The kernel follows links, and refuses those that others planted (proc_sys_fs(5), protected_symlinks).
        let open = |make: bool| {
            let mut options = OpenOptions::new();
            options.write(true).create(make).truncate(false).open(path)
        };
        let file = match open(false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A link that leads to no file yet makes one there.
                if fs::symlink_metadata(path).is_err() {
                    beside(path)?;
                    return Ok(WriteTarget::Free);
                }
                open(true)?
            }
            opened => opened?,
        };
        let found = file.metadata()?;
        if !found.is_file() {
            return Ok(WriteTarget::Stream(file));
        }
        let real = fs::canonicalize(path)?;
        let named = fs::symlink_metadata(&real)?;
        let same = (named.dev(), named.ino()) == (found.dev(), found.ino());
        let ours = found.uid() == rustix::process::geteuid().as_raw() && found.nlink() == 1;
        Ok(if same && ours {
            WriteTarget::Replaceable(file, real)
        } else {
            WriteTarget::Kept(file)
        })
    }
}

/// A stream of this process under its name as a file. Opening that would begin at the start of what it leads to, over
/// what is there.
fn own_stream(path: &Path) -> io::Result<Option<File>> {
    let stream = match path.to_str() {
        Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
            io::stdout().as_fd().try_clone_to_owned()?
        }
        Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => {
            io::stderr().as_fd().try_clone_to_owned()?
        }
        _ => return Ok(None),
    };
    Ok(Some(stream.into()))
}

/// An empty file in the folder of `path`, under a name that nobody can guess. It is deleted with the value.
fn beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    tempfile::Builder::new()
        .prefix(UNFINISHED)
        // The user's mask (umask(2)) takes away from these as from any new file.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
}

fn put(path: &Path, bytes: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    let mut file = beside(path)?;
    if let Some(mode) = mode {
        file.as_file().set_permissions(mode)?;
    }
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn overwrite(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Whether a file could not be made or moved for a reason that does not keep anybody from writing into the old one.
fn is_refusal(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(
        error.kind(),
        PermissionDenied | ReadOnlyFilesystem | ResourceBusy
    )
}

/// Writes a file, whole or not at all; see [`Destination::write`].
///
/// # Errors
/// When it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Destination::open(path)?.write(bytes)
}

/// Reads a regular file of at most `longest` bytes. A pipe or a device of that name could be read for ever.
///
/// # Errors
/// When it cannot be read, is not a regular file, or is longer.
pub fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    bounded(open(path)?, longest)
}

/// Opens a regular file for reading.
///
/// # Errors
/// When it cannot be read, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Opening a pipe would wait for its writer.
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(not_regular(&file.metadata()?));
    }
    Ok(file)
}

/// The same of a path that was typed, which may lead to a pipe: `<(command)` in a shell does.
///
/// # Errors
/// When it cannot be read, is neither a regular file nor a pipe, or is longer.
pub fn read_typed(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.file_type().is_fifo() {
        bounded(File::open(path)?, longest)
    } else {
        read(path, longest)
    }
}

/// A text, read as [`read`] reads.
///
/// # Errors
/// As for that, and when it is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    text(read(path, LONGEST_TEXT)?)
}

/// The file of standard input, for commands in which `-` names it.
pub const STANDARD_INPUT: &str = "/dev/stdin";

/// A text, read as [`read_typed`] reads.
///
/// # Errors
/// As for that, and when it is no UTF-8.
pub fn read_typed_text(path: &Path) -> io::Result<String> {
    text(read_typed(path, LONGEST_TEXT)?)
}

/// The text of a file, without the byte order mark that some editors put before it.
fn text(mut bytes: Vec<u8>) -> io::Result<String> {
    let problem = |problem| Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    let mark = bytes.len() - without_byte_order_mark(&bytes).len();
    bytes.drain(..mark);
    match String::from_utf8(bytes) {
        // Without a mark, every other byte of ASCII text in UTF-16 is zero, which is valid UTF-8.
        Ok(text) if text.contains('\0') => problem(format!("it contains NUL bytes; {AS_UTF_8}")),
        Ok(text) => Ok(text),
        Err(error) if is_utf_16(error.as_bytes()) => {
            problem(format!("it is UTF-16 text; {AS_UTF_8}"))
        }
        Err(error) => problem(format!(
            "it is not UTF-8 text (from byte {} on); {AS_UTF_8}",
            error.utf8_error().valid_up_to() + 1
        )),
    }
}

/// What follows the byte order mark, if there is one.
pub fn without_byte_order_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// Reads to the end of `source`, which must come after at most `longest` bytes.
///
/// # Errors
/// When it cannot be read, or is longer.
pub fn bounded(source: impl io::Read, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        let most = longest >> 20;
        return Err(io::Error::other(format!(
            "it is longer than {most} MiB, which is the most that is read"
        )));
    }
    Ok(bytes)
}

fn not_regular(found: &fs::Metadata) -> io::Error {
    io::Error::other(if found.is_dir() {
        "it is a folder; name a file"
    } else {
        "it is a device, a pipe or a socket; name a regular file"
    })
}

/// Whether all folders on the way from `folder` to `path` below it are folders, and no link leads elsewhere.
pub(crate) fn has_real_folders(folder: &Path, path: &Path) -> bool {
    let mut above = path
        .ancestors()
        .skip(1)
        .filter(|above| *above != Path::new(""));
    above.all(|above| {
        let found = folder.join(above).symlink_metadata();
        found.is_ok_and(|found| found.is_dir())
    })
}

/// A temporary folder whose name begins with `prefix`, and that only its owner may look into.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn private_folder(prefix: &str) -> io::Result<TempDir> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o700))
        .tempdir()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder() -> TempDir {
        private_folder("deadheat-test-").unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_written_and_written_again_and_nothing_is_left_beside_it() {
        let folder = folder();
        let path = folder.path().join("report.html");
        let neighbour = folder.path().join("report.part");
        fs::write(&neighbour, "mine").unwrap();
        for text in ["one", "two"] {
            write_whole(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_to_string(&neighbour).unwrap(), "mine");
        assert_eq!(names(folder.path()), ["report.html", "report.part"]);
    }

    #[test]
    fn the_permissions_of_a_file_stay() {
        let folder = folder();
        let path = folder.path().join("report.html");
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        // A new one has those of any new file.
        let [new, usual] = ["new", "usual"].map(|name| folder.path().join(name));
        write_whole(&new, b"").unwrap();
        fs::write(&usual, "").unwrap();
        let modes = [new, usual].map(|path| fs::metadata(path).unwrap().mode());
        assert_eq!(modes[0], modes[1]);
    }

    #[test]
    fn a_link_stays_a_link_and_what_it_leads_to_is_written() {
        let folder = folder();
        let [file, link, open] = ["file", "link", "open"].map(|name| folder.path().join(name));
        fs::write(&file, "a long text from before").unwrap();
        symlink(&file, &link).unwrap();
        symlink(folder.path().join("later"), &open).unwrap();
        for (path, leads_to) in [(&link, "file"), (&open, "later")] {
            write_whole(path, b"new").unwrap();
            assert!(fs::symlink_metadata(path).unwrap().is_symlink());
            let text = fs::read_to_string(folder.path().join(leads_to));
            assert_eq!(text.unwrap(), "new");
        }
        assert_eq!(names(folder.path()), ["file", "later", "link", "open"]);
    }

    #[test]
    fn a_file_with_another_name_keeps_both() {
        let folder = folder();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        fs::write(&one, "a long text from before").unwrap();
        fs::hard_link(&one, &other).unwrap();
        write_whole(&one, b"new").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "new");
    }

    #[test]
    fn a_device_and_a_pipe_are_written_to_and_stay() {
        let full = folder();
        let link = full.path().join("full");
        symlink("/dev/full", &link).unwrap();
        let error = write_whole(&link, b"new").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let pipe = full.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read(pipe).unwrap())
        };
        write_whole(&pipe, b"new").unwrap();
        assert_eq!(reader.join().unwrap(), b"new");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(names(full.path()), ["full", "pipe"]);
    }

    #[test]
    fn what_cannot_be_written_is_known_before_anything_is() {
        let folder = folder();
        assert!(Destination::open(&folder.path().join("none/file")).is_err());
        assert!(Destination::open(folder.path()).is_err());
        let path = folder.path().join("file");
        drop(Destination::open(&path).unwrap());
        assert!(names(folder.path()).is_empty());
        let mut file = Destination::open(&path).unwrap().begin().unwrap();
        file.write_all(b"row").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "row");
        Destination::open(&path).unwrap().begin().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }

    #[test]
    fn only_a_regular_file_of_a_bounded_length_is_read() {
        let folder = folder();
        let [file, pipe] = ["file", "pipe"].map(|name| folder.path().join(name));
        fs::write(&file, "12345").unwrap();
        assert_eq!(read(&file, 5).unwrap(), b"12345");
        assert!(read(&file, 4).is_err());
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        for other in [&pipe, Path::new("/dev/zero"), folder.path()] {
            assert!(read(other, 5).is_err(), "{}", other.display());
        }
        assert!(read_typed(Path::new("/dev/zero"), 5).is_err());
        let writer = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::write(pipe, "123").unwrap())
        };
        assert_eq!(read_typed(&pipe, 5).unwrap(), b"123");
        writer.join().unwrap();
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_text() {
        let folder = folder();
        let path = folder.path().join("names.txt");
        for (bytes, expected) in [
            (&b"\xef\xbb\xbfann\r\n"[..], "ann\r\n"),
            (b"\xef\xbb\xbf", ""),
            (b"a\xef\xbb\xbf", "a\u{feff}"),
            ("bücher".as_bytes(), "bücher"),
        ] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(read_text(&path).unwrap(), expected);
            assert_eq!(read_typed_text(&path).unwrap(), expected);
            // A body is sent as it is.
            assert_eq!(read_typed(&path, 100).unwrap(), bytes);
        }
        for (bytes, expected) in [
            (&b"\xff\xfea\0"[..], "UTF-16 text; save it as UTF-8"),
            (b"\xfe\xff\0a", "UTF-16 text"),
            (b"a\0b\0", "NUL bytes; save it as UTF-8"),
            (
                b"ab\xe4",
                "not UTF-8 text (from byte 3 on); save it as UTF-8",
            ),
        ] {
            fs::write(&path, bytes).unwrap();
            let error = read_text(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_private_folder_is_its_owners_alone() {
        let mode = fs::metadata(folder().path()).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
