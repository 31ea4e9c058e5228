"""The extension as one file: an archive with the folder and the two texts that VS Code needs.

pack.py FOLDER BUNDLE TARGET
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

_FILES = ("language-configuration.json", "p4.tmLanguage.json")
_CONTENT_TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="js" ContentType="application/javascript"/>
  <Default Extension="json" ContentType="application/json"/>
  <Default Extension="vsixmanifest" ContentType="text/xml"/>
</Types>
"""
# Every packing of the same texts gives the same bytes.
_TIME = (1980, 1, 1, 0, 0, 0)


def manifest(package: dict[str, object]) -> str:
    """The part that VS Code reads before it looks into the folder."""
    identity = " ".join(
        f"{name}={quoteattr(str(package[key]))}"
        for name, key in (("Id", "name"), ("Version", "version"), ("Publisher", "publisher"))
    )
    engines = package["engines"]
    assert isinstance(engines, dict)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" {identity}/>
    <DisplayName>{escape(str(package["displayName"]))}</DisplayName>
    <Description>{escape(str(package["description"]))}</Description>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={quoteattr(engines["vscode"])}/>
    </Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" \
Addressable="true"/>
  </Assets>
</PackageManifest>
"""


def pack(folder: Path, bundle: Path, target: Path) -> None:
    """Writes the archive."""
    text = (folder / "package.json").read_text()
    package = json.loads(text)
    contents = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "extension.vsixmanifest": manifest(package),
        "extension/package.json": text,
        f"extension/{Path(package['main'])}": bundle.read_text(),
    } | {f"extension/{name}": (folder / name).read_text() for name in _FILES}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    pack(*map(Path, sys.argv[1:4]))
