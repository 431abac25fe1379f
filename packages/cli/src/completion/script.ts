export const shells = ['bash', 'zsh', 'fish', 'kubectl'] as const;

const bash = `_kubectl_spotalis() {
  local IFS=$'\\n'
  COMPREPLY=($(kubectl-spotalis __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${COMPREPLY[0]} == */ ]] && compopt -o nospace
}
complete -F _kubectl_spotalis kubectl-spotalis`;

const zsh = `#compdef kubectl-spotalis
_kubectl_spotalis() {
  local -a found
  found=("\${(@f)$(kubectl-spotalis __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  # What goes on after a slash gets no space.
  compadd -S '' -- \${(M)found:#*/}
  compadd -- \${found:#*/}
  [[ -n $found ]]
}
compdef _kubectl_spotalis kubectl-spotalis`;

const fish = `function __kubectl_spotalis
  set -l words (commandline -opc) (commandline -ct)
  kubectl-spotalis __complete $words[2..-1] 2>/dev/null
end
complete -c kubectl-spotalis -f -a '(__kubectl_spotalis)'`;

/** kubectl asks a program of this name beside the plugin, and wants to hear at the end that no files are meant. */
const kubectl = `#!/bin/sh
kubectl-spotalis __complete "$@"
echo ":4"`;

export const scripts: Readonly<Record<(typeof shells)[number], string>> = { bash, zsh, fish, kubectl };
