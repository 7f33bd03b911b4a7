// Package datafile knows what lies below data/ in a workspace beside documents: which paths may be sent to a kernel at
// all ([Check]), where they lead ([Locate]), and which templates there are ([FindTemplate]).
//
// The kernel checks next to nothing here: it opens any path that it is given.
package datafile
