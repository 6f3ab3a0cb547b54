# To be sourced. The one package that is published as source only:
THESPIAN=3.10.6

# platforms ARCH: pip's flags for wheels that run on Debian 12 (glibc 2.36).
platforms() {
  local machine minor
  case $1 in amd64) machine=x86_64 ;; arm64) machine=aarch64 ;; *) die "ARCH=$1: only amd64 and arm64" ;; esac
  for minor in $(seq 36 -1 17); do echo "--platform=manylinux_2_${minor}_$machine"; done
  echo "--platform=manylinux2014_$machine"
  if [ "$machine" = x86_64 ]; then echo "--platform=manylinux2010_x86_64 --platform=manylinux1_x86_64"; fi
}
