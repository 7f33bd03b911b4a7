// Package folder brings a folder of Markdown files into the vault and notebooks out of it again.
//
// [Import] reads what Obsidian, Logseq and plain folders of Markdown hold: each file becomes a document, nested folders
// become documents with children, links between files become references to blocks, and images and attachments become
// assets. [Export] writes notebooks as such a folder. What it wrote, Import reads back to the same notes: exported again,
// every file is the same byte for byte. [ExportSiYuan] writes one notebook as the archive (.sy.zip) that the import of
// SiYuan takes, and [ImportSiYuan] reads one that SiYuan or ExportSiYuan wrote. What a file became is remembered, so that each of them can be
// imported again.
//
// A folder that Export wrote holds [MarkerName], which lists its notebooks and files. In it a document is Title.md and
// its children lie in Title/; a notebook's folder has assets/, databases/ and cards.json for what Markdown cannot hold.
// References stay in the form ((id 'text')), and blocks have an attribute list only where something needs it.
//
// Nothing of a folder is believed: paths are confined to it, symbolic links that lead out of it are not followed, and
// what cannot be read is a [Problem] of the [Report], not the end.
package folder
