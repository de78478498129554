"""Says as JSON what independent readers find in PDF files: qpdf (by pikepdf) on their structure, PDFium on their pages.

    read_pdf.py FILE...

One JSON object a line for each file. A file that no reader opens ends the program.
"""

import json
import sys

import pikepdf
import pypdfium2
import pypdfium2.raw as raw


def structure(path: str) -> dict:
    with pikepdf.open(path) as pdf:
        root, info = pdf.Root, pdf.docinfo
        with pdf.open_metadata() as xmp:
            conforms = f"PDF/A-{xmp.get('pdfaid:part')}{(xmp.get('pdfaid:conformance') or '').lower()}"
        fonts = {}
        for item in pdf.objects:
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/FontDescriptor":
                fonts[str(item["/FontName"])] = any(key in item for key in ("/FontFile", "/FontFile2", "/FontFile3"))
        return {
            "problems": [str(problem) for problem in pdf.check_pdf_syntax()],
            "conforms": conforms,
            "title": str(info.get("/Title", "")),
            "author": str(info.get("/Author", "")),
            "created": str(info.get("/CreationDate", "")),
            "language": str(root.get("/Lang", "")),
            "marked": bool(root.get("/MarkInfo", {}).get("/Marked", False)),
            "tags": tags(root["/StructTreeRoot"]) if "/StructTreeRoot" in root else [],
            "fonts": fonts,
        }


def tags(node: pikepdf.Object) -> list:
    """The kinds of structure elements in reading order; a figure with its alternative text."""
    found = []
    if isinstance(node, pikepdf.Array):
        for child in node:
            found += tags(child)
    elif isinstance(node, pikepdf.Dictionary):
        if "/S" in node:
            kind = str(node["/S"]).removeprefix("/")
            found.append(f"{kind}: {node['/Alt']}" if "/Alt" in node else kind)
        if "/K" in node:
            found += tags(node["/K"])
    return found


def pages(path: str) -> dict:
    pdf = pypdfium2.PdfDocument(path)
    found = []
    for page in pdf:
        width, height = page.get_size()
        images = []
        for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
            left, bottom, right, top = item.get_bounds()
            images.append({"pixels": item.get_px_size(), "box": [left, height - top, right, height - bottom]})
        bitmap = page.render(scale=1, rev_byteorder=True)
        pixels, step = bytes(bitmap.buffer), bitmap.n_channels
        ink = [at for at in range(0, len(pixels), step) if pixels[at : at + 3] != b"\xff\xff\xff"]
        middle = (bitmap.height // 2) * bitmap.stride + (bitmap.width // 2) * step
        found.append(
            {
                "width": width,
                "height": height,
                "text": page.get_textpage().get_text_bounded(),
                "images": images,
                "ink": len(ink),
                "middle": list(pixels[middle : middle + 3]),
            }
        )
    outline = [[entry.level, entry.get_title(), entry.get_dest().get_index()] for entry in pdf.get_toc()]
    return {"pages": found, "outline": outline}


for path in sys.argv[1:]:
    print(json.dumps(structure(path) | pages(path)))
