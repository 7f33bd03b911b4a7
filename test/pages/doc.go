// Package pages tests the pages in the browser with the whole program: how a browser signs in, what it can do, and
// who cannot sign in.
//
// The files *_story_test.go have the build tag stories. They drive Chromium as a person would, in front of a gateway
// whose model follows a script; chromium_test.go has what they share.
package pages
