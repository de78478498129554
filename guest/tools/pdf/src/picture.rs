//! Whether these bytes are an image that can be taken: PNG or JPEG, of a bounded size, whole. Pure.

use crate::bindings::exports::counterfoil::tool::tools::ToolError;
use crate::document::Format;
use crate::limits::{MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS};
use crate::refused;
use crate::text::{bytes, grouped};
use std::io::Cursor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub format: Format,
    pub pixels: (u32, u32),
}

/// Decodes it whole, once.
pub fn inspect(data: &[u8]) -> Result<Seen, ToolError> {
    if data.len() > MAX_IMAGE_BYTES {
        let (has, limit) = (bytes(data.len() as u64), bytes(MAX_IMAGE_BYTES as u64));
        return Err(refused(format!("the image has {has}; up to {limit} are taken: make it smaller")));
    }
    if data.starts_with(b"\x89PNG\r\n\x1a\n") {
        png(data)
    } else if data.starts_with(b"\xff\xd8\xff") {
        jpeg(data)
    } else {
        Err(refused("the image is neither PNG nor JPEG"))
    }
}

fn damaged(error: impl std::fmt::Display) -> ToolError {
    refused(format!("the image is damaged: {error}"))
}

fn bounded(width: u32, height: u32) -> Result<(), ToolError> {
    match (1..=MAX_IMAGE_PIXELS).contains(&(u64::from(width) * u64::from(height))) {
        true => Ok(()),
        false => Err(refused(format!(
            "the image is {width} by {height} pixels; up to {} pixels are taken: make it smaller",
            grouped(MAX_IMAGE_PIXELS)
        ))),
    }
}

fn png(data: &[u8]) -> Result<Seen, ToolError> {
    let mut decoder = png::Decoder::new(Cursor::new(data));
    decoder.set_transformations(png::Transformations::EXPAND);
    let header = decoder.read_header_info().map_err(damaged)?;
    let pixels = (header.width, header.height);
    bounded(pixels.0, pixels.1)?;
    let mut reader = decoder.read_info().map_err(damaged)?;
    let size = reader.output_buffer_size().ok_or_else(|| damaged("no size"))?;
    reader.next_frame(&mut vec![0; size]).map_err(damaged)?;
    reader.finish().map_err(damaged)?;
    Ok(Seen { format: Format::Png, pixels })
}

fn jpeg(data: &[u8]) -> Result<Seen, ToolError> {
    let options = DecoderOptions::default().set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(data), options);
    decoder.decode_headers().map_err(damaged)?;
    let (width, height) = decoder.dimensions().ok_or_else(|| damaged("no size"))?;
    let pixels = (u32::try_from(width).unwrap_or(u32::MAX), u32::try_from(height).unwrap_or(u32::MAX));
    bounded(pixels.0, pixels.1)?;
    match decoder.input_colorspace() {
        Some(ColorSpace::Luma | ColorSpace::YCbCr | ColorSpace::RGB) => {}
        _ => return Err(refused("the image has the colours of a printing press (CMYK); convert it to RGB")),
    }
    decoder.decode().map_err(damaged)?;
    Ok(Seen { format: Format::Jpeg, pixels })
}
