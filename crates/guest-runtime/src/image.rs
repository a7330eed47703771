use crate::delta::Delta;
use crate::error::{RestoreError, SuspendError};
use crate::{artefact, checksum};

/// First bytes of every image.
const MAGIC: &[u8; 8] = b"cdcl-img";

/// Layout of header and payload. Raise it with every change of either: a test watches.
const VERSION: u16 = 2;

/// Magic, version, guest hash, memory size, page count, size of the pages' buffer, checksum of all that follows and
/// precedes it.
const HEADER_BYTES: usize = 8 + 2 + 32 + 8 + 4 + 4 + 8;
const CHECKSUM_AT: usize = HEADER_BYTES - 8;

/// A suspended VM as bytes: the parts of its memory that differ from a fresh VM, compressed.
///
/// The size that counts against a limit is that of these bytes. An image says nothing of its run, and it is not
/// authenticated: keep it where only this process writes.
#[derive(Clone, PartialEq, Eq)]
pub struct Image(Vec<u8>);

impl Image {
    /// Packs what differs in a suspended memory.
    pub(crate) fn pack(delta: &Delta, limit: usize) -> Result<Self, SuspendError> {
        let payload = lz4_flex::block::compress(delta.bytes());
        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(artefact::HASH);
        bytes.extend_from_slice(&(delta.memory_bytes() as u64).to_le_bytes());
        bytes.extend_from_slice(&delta.pages().to_le_bytes());
        // A memory has less than 4 GiB.
        bytes.extend_from_slice(&(delta.bytes().len() as u32).to_le_bytes());
        let sum = sum(&bytes, &payload);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes.extend_from_slice(&payload);
        if bytes.len() > limit {
            return Err(SuspendError::TooLarge {
                actual: bytes.len(),
                limit,
            });
        }
        Ok(Self(bytes))
    }

    /// Unpacks what differs, allocating no more than a memory of `limit` bytes could fill.
    pub(crate) fn unpack(bytes: &[u8], limit: usize) -> Result<Delta, RestoreError> {
        let mut header = Header {
            rest: bytes.strip_prefix(MAGIC).ok_or(RestoreError::NotAnImage)?,
        };
        if header.take::<2>()? != VERSION.to_le_bytes() || header.take::<32>()? != *artefact::HASH {
            return Err(RestoreError::OtherBuild);
        }
        let memory = u64::from_le_bytes(header.take()?);
        let pages = u32::from_le_bytes(header.take()?);
        let size = u32::from_le_bytes(header.take()?) as usize;
        let expected = u64::from_le_bytes(header.take()?);
        let payload = header.rest;
        if sum(bytes.get(..CHECKSUM_AT).unwrap_or_default(), payload) != expected {
            return Err(RestoreError::Corrupt("the checksum does not fit"));
        }
        let memory =
            usize::try_from(memory).map_err(|_| RestoreError::Corrupt("the memory size is absurd"))?;
        if memory > limit {
            return Err(RestoreError::NoRoom {
                actual: memory,
                limit,
            });
        }
        let largest = Delta::largest(pages, memory).ok_or(RestoreError::Corrupt("more pages than memory"))?;
        if size > largest {
            return Err(RestoreError::Corrupt("more contents than pages"));
        }
        let mut raw = vec![0; size];
        match lz4_flex::block::decompress_into(payload, &mut raw) {
            Ok(written) if written == size => {}
            _ => return Err(RestoreError::Corrupt("the pages do not decompress")),
        }
        Delta::parse(raw, pages, memory).ok_or(RestoreError::Corrupt("a page lies outside the memory"))
    }

    /// The bytes to keep.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes to keep, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Always false: an image has a header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({} bytes)", self.0.len())
    }
}

fn sum(header: &[u8], payload: &[u8]) -> u64 {
    checksum::of(header).rotate_left(1) ^ checksum::of(payload)
}

struct Header<'b> {
    rest: &'b [u8],
}

impl Header<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], RestoreError> {
        let (field, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(RestoreError::Corrupt("the header is cut off"))?;
        self.rest = rest;
        Ok(*field)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::delta::PAGE_BYTES;

    fn delta() -> Delta {
        let fresh = vec![0; 4 * PAGE_BYTES];
        let mut used = vec![0; 6 * PAGE_BYTES];
        used[PAGE_BYTES + 3] = 7;
        used[5 * PAGE_BYTES] = 9;
        Delta::between(&fresh, &used, 0..6)
    }

    const ROOM: usize = 1 << 20;

    #[test]
    fn an_image_gives_back_the_pages_it_was_made_of() {
        let image = Image::pack(&delta(), ROOM).unwrap();
        assert_eq!(Image::unpack(image.as_bytes(), ROOM), Ok(delta()));
    }

    /// If this fails the layout moved: raise `VERSION`, then write the new numbers here.
    #[test]
    fn the_layout_belongs_to_its_version() {
        let image = Image::pack(&delta(), ROOM).unwrap().into_bytes();
        let raw = delta().bytes().to_vec();
        assert_eq!((VERSION, HEADER_BYTES, raw.len()), (2, 66, 2 * (4 + 8 + 64)));
        assert_eq!(image[..10], *b"cdcl-img\x02\x00");
        let sizes = [0, 0x60, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 152, 0, 0, 0];
        assert_eq!(image[42..58], sizes);
        assert_eq!(raw[..8], [1, 0, 0, 0, 5, 0, 0, 0]);
        assert_eq!(raw[8..24], [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(raw[24..28], [0, 0, 0, 7]);
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        let image = Image::pack(&delta(), ROOM).unwrap().into_bytes();
        let with = |index: usize, value: u8| {
            let mut bytes = image.clone();
            bytes[index] = value;
            Image::unpack(&bytes, ROOM)
        };
        assert_eq!(Image::unpack(b"", ROOM), Err(RestoreError::NotAnImage));
        assert_eq!(with(0, b'X'), Err(RestoreError::NotAnImage));
        assert_eq!(with(8, 99), Err(RestoreError::OtherBuild));
        assert_eq!(with(10, !image[10]), Err(RestoreError::OtherBuild));
        assert_eq!(
            with(50, 77),
            Err(RestoreError::Corrupt("the checksum does not fit"))
        );
        assert_eq!(
            with(80, !image[80]),
            Err(RestoreError::Corrupt("the checksum does not fit"))
        );
        assert_eq!(
            Image::unpack(&image[..20], ROOM),
            Err(RestoreError::Corrupt("the header is cut off"))
        );
        assert_eq!(
            Image::unpack(&image, 4096),
            Err(RestoreError::NoRoom {
                actual: 6 * PAGE_BYTES,
                limit: 4096
            })
        );
        assert_eq!(
            Image::pack(&delta(), 10),
            Err(SuspendError::TooLarge {
                actual: image.len(),
                limit: 10
            })
        );
    }

    proptest! {
        #[test]
        fn hostile_bytes_are_refused_without_a_panic(
            cut in 0_usize..200,
            flips in prop::collection::vec((0_usize..200, any::<u8>()), 0..8),
            repair in any::<bool>(),
        ) {
            let mut bytes = Image::pack(&delta(), ROOM).unwrap().into_bytes();
            bytes.truncate(bytes.len().saturating_sub(cut));
            for (index, value) in flips {
                if let Some(byte) = bytes.get_mut(index) {
                    *byte = value;
                }
            }
            // A forger would repair the checksum.
            if repair && bytes.len() >= HEADER_BYTES {
                let sum = sum(&bytes[..CHECKSUM_AT], &bytes[HEADER_BYTES..]);
                bytes[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&sum.to_le_bytes());
            }
            let _ = Image::unpack(&bytes, ROOM);
        }
    }
}
