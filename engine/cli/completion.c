/* SPDX-License-Identifier: Apache-2.0
 *
 * completion.c - `inis completion`: the functions that make a shell complete our command lines.
 *
 * They know nothing of verbs and options: each asks the program (complete.h), so that none can fall behind.
 */
#include <stdio.h>
#include <string.h>

#include "cli/verb.h"

static const char HELP[] =
	"inis completion SHELL - print what makes a shell complete verbs, options, sessions and processes\n\n"
	"  --help\n\n"
	"SHELL is bash, zsh or fish. `make install` puts all three where the shells look for them; this is for\n"
	"the rest.\n\n"
	"Examples:\n"
	"  eval \"$(inis completion bash)\"                  # in ~/.bashrc\n"
	"  eval \"$(inis completion zsh)\"                   # in ~/.zshrc, after compinit\n"
	"  inis completion fish > ~/.config/fish/completions/inis.fish\n";

static const char BASH[] =
	"# bash completion for inis\n"
	"_inis() {\n"
	"  local line cur=${COMP_WORDS[COMP_CWORD]} cword=$COMP_CWORD IFS=$'\\n'\n"
	"  local -a words=(\"${COMP_WORDS[@]}\")\n"
	"  # To bash a colon is a word of its own, to us SESSION:PATH is one.\n"
	"  declare -F _get_comp_words_by_ref >/dev/null && _get_comp_words_by_ref -n : cur words cword\n"
	"  COMPREPLY=()\n"
	"  while read -r line; do\n"
	"    if [[ $line == :files ]]; then\n"
	"      # As a file name the colon of a session would be quoted.\n"
	"      ((${#COMPREPLY[@]})) || compopt -o filenames 2>/dev/null\n"
	"      COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
	"    else\n"
	"      COMPREPLY+=(\"${line%%$'\\t'*}\")\n"
	"      [[ $line == *: ]] && compopt -o nospace 2>/dev/null\n"
	"    fi\n"
	"  done < <(\"${words[0]}\" __complete \"${words[@]:1:cword}\" 2>/dev/null)\n"
	"  declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions \"$cur\"\n"
	"  return 0\n"
	"}\n"
	"complete -F _inis inis\n";

static const char ZSH[] =
	"#compdef inis\n"
	"_inis() {\n"
	"  local line files=0\n"
	"  local -a candidates prefixes\n"
	"  for line in \"${(@f)$(\"${words[1]}\" __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
	"    case $line in\n"
	"      '') ;;\n"
	"      :files) files=1 ;;\n"
	"      *:) prefixes+=(\"$line\") ;;\n"
	"      *$'\\t'*) candidates+=(\"${line%%$'\\t'*}:${line#*$'\\t'}\") ;;\n"
	"      *) candidates+=(\"$line\") ;;\n"
	"    esac\n"
	"  done\n"
	"  (( ${#candidates} )) && _describe inis candidates\n"
	"  (( ${#prefixes} )) && compadd -S '' -- \"${prefixes[@]}\"\n"
	"  (( files )) && _files\n"
	"  return 0\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _inis ]; then\n"
	"  _inis \"$@\"\n"
	"else\n"
	"  compdef _inis inis\n"
	"fi\n";

static const char FISH[] = "# fish completion for inis\n"
			   "function __inis_complete\n"
			   "  set -l words (commandline -opc) (commandline -ct)\n"
			   "  for line in ($words[1] __complete $words[2..-1] 2>/dev/null)\n"
			   "    if test \"$line\" = :files\n"
			   "      __fish_complete_path (commandline -ct)\n"
			   "    else\n"
			   "      printf '%s\\n' $line\n"
			   "    end\n"
			   "  end\n"
			   "end\n"
			   "complete -c inis -f -a '(__inis_complete)'\n";

static int run(int argc, char **argv)
{
	static const struct {
		const char *name, *text;
	} shells[] = {{"bash", BASH}, {"zsh", ZSH}, {"fish", FISH}};
	int code = cli_parse_words(&cli_verb_completion, argc, argv, NULL, NULL, 1, 1, "for which shell?");

	if (code != CLI_GO_ON)
		return code;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, argv[optind]) == 0)
			return fputs(shells[i].text, stdout) < 0 ? CLI_FAILED : 0;
	return cli_usage(&cli_verb_completion, "\"%s\" is none of bash, zsh and fish", argv[optind]);
}

const struct cli_verb cli_verb_completion = {
	.name = "completion",
	.summary = "print the completion of a shell",
	.help = HELP,
	.run = run,
	.words = (const char *const[]){"bash|zsh|fish", NULL},
};
