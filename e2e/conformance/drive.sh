#!/bin/sh
# What the conformance suite starts in client mode, with the URL of a server as the last argument: one `codecell exec`.
# CODECELL is the binary.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '{ mcp: { servers: { suite: { url: "%s", elicitation: "defaults" } } } }' "$1" > "$folder/codecell.json5"
{
  printf 'const context = %s;\n' "${MCP_CONFORMANCE_CONTEXT:-"{}"}"
  cat "$(dirname "$0")/drive.js"
} > "$folder/drive.js"
"$CODECELL" exec --wait --config "$folder/codecell.json5" "$folder/drive.js"
