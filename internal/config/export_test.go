package config

// Edit is what [Config.Edit] writes a file with.
var Edit = edit
