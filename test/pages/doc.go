// Package pages tests the pages in the browser with the whole program: how a browser signs in, what it can do, and who cannot.
package pages
