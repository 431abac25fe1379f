# Bundle first (`npm run check` and the two `bundle` scripts, see README.md), then from the root of the repository:
#   docker buildx bake --file docker/docker-bake.hcl --push
# Attestations need a registry, or an image store of containerd, to be kept in.

variable "REGISTRY" {
  default = "ghcr.io/spotalis"
}

variable "VERSION" {
  default = "0.1.0"
}

variable "REVISION" {
  default = ""
}

group "default" {
  targets = ["service"]
}

target "service" {
  name       = service
  matrix     = { service = ["webhook", "controller"] }
  context    = "."
  dockerfile = "docker/Dockerfile"
  target     = service
  tags       = ["${REGISTRY}/${service}:${VERSION}"]
  platforms  = ["linux/amd64", "linux/arm64"]
  attest     = ["type=sbom", "type=provenance,mode=max"]
  labels = {
    "org.opencontainers.image.title"    = "spotalis-${service}"
    "org.opencontainers.image.version"  = VERSION
    "org.opencontainers.image.revision" = REVISION
  }
}
