//! Every limit, with its reason. A preview lays out and writes the whole document within five seconds and 256 MiB, on a
//! machine that does other things as well: what cannot be shown whole is refused when it is added, not when it is written.

/// Longest text of one call, in characters: four bytes each fit into the 256 KiB of arguments.
pub const MAX_TEXT: usize = 60_000;

/// Characters of a text that a plan shows: what a person reads who is asked. Its length and digest stand for the rest.
pub const MAX_PLANNED_TEXT: usize = 500;

/// Characters of a text that get_document shows.
pub const MAX_LISTED_TEXT: usize = 80;

/// Characters of one document, some 150 full pages: half a second to lay out and write.
pub const MAX_CHARACTERS: usize = 400_000;

/// Texts and images of one document: each is read, checked and placed anew by every call.
pub const MAX_BLOCKS: usize = 2_000;

/// Pages of one document. Blank lines and page breaks make pages of little text.
pub const MAX_PAGES: usize = 300;

/// Bytes of one document's file: its characters, its blocks, and JSON around them.
pub const MAX_DOCUMENT_BYTES: u64 = 4 << 20;

/// Bytes of one image's file: it is read, hashed and written into the PDF by every output.
pub const MAX_IMAGE_BYTES: usize = 4 << 20;

/// Bytes of all images of one document.
pub const MAX_IMAGES_BYTES: u64 = 16 << 20;

/// Longest image in base64, in characters: what fits into the arguments, which have 256 KiB. Larger ones come from a file.
pub const MAX_IMAGE_BASE64: usize = 250_000;

/// Pixels of one image: decoding and compressing takes half a second and up to eight bytes a pixel, several times over.
pub const MAX_IMAGE_PIXELS: u64 = 6_000_000;

/// Pixels of all images of one document.
pub const MAX_PIXELS: u64 = 12_000_000;

/// Largest PDF that is returned in base64: a third more as text, within the 384 KiB that the host keeps of an outcome.
pub const MAX_RETURNED: usize = 256 << 10;

/// Longest title, author and alternative text, in characters.
pub const MAX_LABEL: usize = 500;

/// Smallest and largest side of a page, in points: an inch, and what PDF 1.7 lets a reader refuse beyond.
pub const MIN_SIDE: f64 = 72.0;
pub const MAX_SIDE: f64 = 14_400.0;

/// Narrowest and lowest area between the margins, in points.
pub const MIN_AREA: f64 = 36.0;

/// Smallest and largest size of text, in points.
pub const MIN_SIZE: f64 = 4.0;
pub const MAX_SIZE: f64 = 144.0;

/// Documents in one directory that are listed: each is read for its title.
pub const MAX_LISTED: usize = 100;

/// Blocks that get_document shows.
pub const MAX_SHOWN_BLOCKS: usize = 100;

/// Smallest side of an image, in points: below that nothing is seen.
pub const MIN_IMAGE: f64 = 0.1;
