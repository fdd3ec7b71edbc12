// Package release tests what scripts/release builds: the Debian and the RPM
// package on machines of their own, with systemd and copies of this machine's files, the
// container image, the installation that docs/install.md describes, and the
// upgrade from one version to the next under load.
//
// It sees the files of a release and the port only. It must not know how the
// service stores anything.
package release
