// Package vault stores notes for people who do not run SiYuan, a program for notes: it answers the part of SiYuan's HTTP
// API that our tools use, over one SQLite file.
//
// The file is opened at the first request, so that an unused vault costs nothing. Several processes may have it open.
// Each request is one transaction, and what was answered survives a kill of the process.
//
//	tree        what notes are: notebooks, documents, blocks
//	markup      Markdown, DOM and .sy files to trees and back
//	workspace   trees, files and SQL in one SQLite file
//	api         requests, answers and routes
//	edit        changes that several families make
//	document, block, search, file, av, card, history, system
//	            the families of endpoints, one package each
//	template    runs SiYuan's templates
//	folder      folders of Markdown and SiYuan's archives, in and out
//	salvage     what can still be read of a damaged file
//	admin       what people do with the file: check, back up, import
//	vaulttest   a workspace for the tests of the families
//
// Entry point: [New]. Built from recordings of a kernel and its public API documentation alone.
package vault
