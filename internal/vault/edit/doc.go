// Package edit has the operations on trees that several families of endpoints need: [Put] and [Place] add blocks to a
// container, [Detach] removes them, [Move], [Update] and [Copy] do what their names say, and [SaveCopy] saves a document
// into the history. The operations save a document before they change it, at most every ten minutes. Code that changes
// one in another way calls [SaveBefore].
//
// The operations keep trees in a form that can be written as Markdown and read back: a list has only items, an item is
// in a list, and no container or document is empty. Checking requests and answering with errors is left to the
// families.
//
// The functions work on the trees of one writing [workspace.Tx] and have no state.
package edit
