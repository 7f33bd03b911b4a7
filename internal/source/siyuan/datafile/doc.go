// Package datafile knows what lies below data/ in a workspace beside documents: which paths may be sent to a kernel at
// all ([Check]), where they lead ([Locate]), which templates there are ([FindTemplate]), and what it takes to have the
// kernel render something ([Rendering], [DailyNote]).
//
// The kernel checks next to nothing here: it opens any path that it is given, and what it renders can read every
// notebook. So both are decided before it is asked.
package datafile
