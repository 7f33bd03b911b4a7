// Package folder imports folders of Markdown files into the vault, exports notebooks to such folders, and keeps folders
// and notebooks equal.
//
// [Import] reads Obsidian vaults, Logseq graphs and plain folders of Markdown: each file becomes a document, nested
// folders become documents with children, links between files become references to blocks, and images and attachments
// become assets. [Export] writes notebooks as such a folder. Importing that gives the same notes, which when exported
// again give the same bytes. [ExportSiYuan] writes one notebook as the archive (.sy.zip) that SiYuan imports, and
// [ImportSiYuan] reads one from SiYuan or ExportSiYuan. The vault remembers what each file has become, so that all of
// these can be imported again. [Sync] makes a folder and a notebook equal: it imports what has changed in the folder, and
// then writes the files of documents that have changed in the vault.
//
// A folder written by Export has a file [MarkerName], which lists its notebooks and files. There a document is
// Title.md and its children are in Title/. A notebook's folder has assets/, databases/ and cards.json for what
// Markdown cannot express. References keep the form ((id 'text')), and blocks have an attribute list only if
// something needs it.
//
// Nothing in a folder is trusted: paths are confined to it, and symbolic links that lead out of it are not followed.
// What cannot be read is a [Problem] in the [Report] and does not stop the import.
//
// The files of an import, in the order of its steps: scan.go and plan.go find the pages, memory.go and match.go find out
// what they became before, page.go and pagetext.go read them, normalize.go, convert.go, inline.go, link.go and wiki.go
// convert their text, and write.go, reimport.go and merge.go store it. In a sync, synclayout.go, compose.go, relink.go and
// syncwrite.go then plan, compose and write files.
package folder
