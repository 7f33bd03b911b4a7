package tokens

// WatchWith is [Watch] with another way to read the file.
var WatchWith = watch
