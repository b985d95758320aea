# Completion of splitcrun's command line for bash: its options, their values, then a program, and
# behind that what the program's own completion says.
_splitcrun() {
  local word=${COMP_WORDS[COMP_CWORD]} i
  COMPREPLY=()

  # The program is the first word that is neither an option nor the value of one.
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --)
        ((++i))
        break
        ;;
      -n | --nodes | --bind | --threads | --timeout | --stall-report | --stall-timeout | --trace | --on-crash)
        ((++i))
        [[ ${COMP_WORDS[i]} != = ]] || ((++i))  # bash takes --bind=core for three words
        ;;
      -*) ;;
      *) break ;;
    esac
  done

  if ((i < COMP_CWORD)); then  # an argument of the program
    if declare -F _command_offset >/dev/null; then
      _command_offset "$i"
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
    return
  fi
  local before=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $word == = ]]; then
    word=""
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $before in
    --bind) mapfile -t COMPREPLY < <(compgen -W "none core l3 numa socket auto" -- "$word") ;;
    -n | --nodes | --threads | --timeout | --stall-report | --stall-timeout | --on-crash) ;;
    --trace) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    *)
      if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "-h --help -n --nodes --bind --threads --timeout
          --stall-report --stall-timeout --survive --label --verbose --stats --top --trace
          --watch-near --on-crash --help-env --version" -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "$word" | sort -u)
      fi
      ;;
  esac
}
complete -o filenames -F _splitcrun splitcrun
