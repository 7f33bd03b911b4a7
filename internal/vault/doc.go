// Package vault keeps a person's notes without a SiYuan: it answers the part of SiYuan's HTTP API that our tools use,
// over one SQLite file.
//
// The file is opened at the first request, so that a vault that is not used costs nothing. Several processes may have
// one file open; each request is one transaction, and what was answered is there after the process is killed.
//
//	tree        what notes are: notebooks, documents, blocks
//	markup      Markdown, DOM and .sy files to trees and back
//	workspace   trees, files and SQL in one SQLite file
//	api         requests, answers and routes
//	edit        changes that several families make
//	document, block, search, file, av, card, history, system
//	            the families of endpoints, one package each
//	vaulttest   a workspace for the tests of the families
//
// Entry point: [New]. Built from recordings of a kernel and its public API documentation alone.
package vault
