// Package datafile knows the files below data/ in a workspace that are not documents: which paths may be sent to a
// kernel at all ([Check]), where they lead ([Locate]), which templates exist ([FindTemplate]), and what is needed to
// have the kernel render something ([CheckRendering], [DailyNote]).
//
// The kernel itself checks almost nothing: it opens any path it is given, and what it renders can read every
// notebook. So both are checked before it is asked.
package datafile
