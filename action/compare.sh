#!/usr/bin/env bash
# Measures two revisions of a service against each other with `deadheat compare`, and comments the verdict on a pull
# request (GitHub) or merge request (GitLab). docs/ci.md explains the variables and outputs.
#
#   compare.sh measure     build both revisions, measure them, write reports and outputs
#   compare.sh comment     post what `measure` wrote, or update the earlier comment
#   compare.sh artifact    print the name of the artifact between them, on GitHub
#
# `measure` runs code of a pull request, which can do whatever its job can: read its variables, files and processes. So
# `comment`, which has a token that may write, belongs in another job, on a machine of its own. It takes what `measure`
# wrote as text from a stranger.
#
# All input comes from variables, and only the build and start commands are evaluated: the name of a branch cannot
# become a command.
set -euo pipefail

note() { printf 'deadheat: %s\n' "$*" >&2; }
die() {
  note "$2"
  exit "$1"
}
need() {
  local tool
  for tool; do
    type -P "$tool" >/dev/null || die 2 "this needs $tool, which is not installed here"
  done
}
is_true() {
  case $2 in
    true) return 0 ;;
    false | '') return 1 ;;
    *) die 2 "$1 is '$2'; write true or false" ;;
  esac
}

# What ends an HTML comment would let the rest of the name out of it.
plain_name() {
  DEADHEAT_CI_NAME=${DEADHEAT_CI_NAME:-}
  DEADHEAT_CI_NAME=${DEADHEAT_CI_NAME//[!A-Za-z0-9 ._\/-]/}
}

# The names of artifacts have no slash.
artifact() {
  plain_name
  local name=${DEADHEAT_CI_NAME//\//-}
  printf 'deadheat%s\n' "${name:+-$name}"
}

# --- measure ---------------------------------------------------------------------------------------------------------

# The commit that a revision names. If the clone is too shallow to have it, it is fetched.
commit_of() {
  local revision=$1
  if [[ -z $revision || $revision =~ ^0+$ ]]; then
    die 2 "there is no base to compare with: set 'base' to a branch, tag or commit"
  fi
  # git would take the first for an option, and the second for an order to overwrite.
  [[ $revision != [-+]* ]] || die 2 "the base '$revision' begins with ${revision:0:1}, so it is no revision"
  if ! git rev-parse --verify --quiet "$revision^{commit}"; then
    git check-ref-format "refs/heads/$revision" ||
      die 2 "the base '$revision' is not in this clone, and is no name that can be fetched"
    git fetch --quiet --no-tags --depth=1 -- origin "$revision" ||
      die 2 "fetching the base '$revision' from origin failed; check its name, or clone with more history"
    git rev-parse --verify --quiet 'FETCH_HEAD^{commit}'
  fi
}

# The archives that this copy of the action runs, one per line: SHA-256, two spaces, VERSION/ARCHIVE.
recorded() { grep -sv '^#' "$(dirname -- "${BASH_SOURCE[0]}")/release.sha256" || true; }

# Downloads a release's archive, verifies it, and prints the path of the program in it. Its SHA-256 comes with the action
# or from the user, not from where the archive comes from.
install_release() {
  local folder=$1 version=${DEADHEAT_CI_VERSION:-} sum=${DEADHEAT_CI_SHA256:-} target archive url
  case "$(uname -s) $(uname -m)" in
    'Linux x86_64') target=x86_64-unknown-linux-musl ;;
    'Linux aarch64') target=aarch64-unknown-linux-musl ;;
    *) die 2 "there is no release for $(uname -s) on $(uname -m); build deadheat and set 'binary'" ;;
  esac
  archive=deadheat-$target.tar.gz
  if [[ -z $version ]]; then version=$(recorded | sed -n "s|^[0-9a-f]*  \([^/]*\)/$archive\$|\1|p"); fi
  case $version in
    '') die 2 "this copy of the action belongs to no release; build deadheat and set 'binary' (docs/ci.md has the steps)" ;;
    *[!A-Za-z0-9.+-]* | -* | .*) die 2 "the version '$version' is not the tag of a release; write it like v0.1.0" ;;
  esac
  if [[ -z $sum ]]; then sum=$(recorded | sed -n "s|  $version/$archive\$||p"); fi
  [[ -n $sum ]] || die 2 "this action has no SHA-256 for $version; set 'sha256', from a source that you trust"
  url=${DEADHEAT_CI_RELEASES:-https://github.com/deadheat/deadheat/releases}/download/$version
  need curl tar sha256sum
  curl --fail --silent --show-error --location --proto-redir '=https' --retry 3 --max-time 300 \
    --output "$folder/$archive" -- "$url/$archive" || die 3 "downloading $url/$archive failed"
  (cd "$folder" && printf '%s  %s\n' "$sum" "$archive" | sha256sum --check --strict --status) ||
    die 3 "$url/$archive is not the file with the SHA-256 '$sum'; nothing of it was run"
  tar -xzf "$folder/$archive" -C "$folder"
  printf '%s\n' "$folder/deadheat-$target/deadheat"
}

remove_trees() {
  local side
  for side in base head; do
    git worktree remove --force "$folder/trees/$side" 2>/dev/null || true
  done
}

# Writes a line to the file of outputs and, on GitHub, to that of the step.
output() {
  printf '%s=%s\n' "$1" "$2" >>"$folder/outputs"
  if [[ -n $github_output ]]; then printf '%s=%s\n' "$1" "$2" >>"$github_output"; fi
}

# A word of a command for `deadheat compare`, which has no shell.
quoted() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

# One field of the comparison's JSON; empty if it is missing.
field() {
  if [[ -n $report ]]; then jq -r "($1) // empty" <<<"$report"; fi
}

verdict() {
  local said
  # shellcheck disable=SC2016 # $cost is a variable of jq
  said=$(field '.compared[0] // empty | (.decide == "cpu") as $cost | {
    "worse": (if $cost then "more expensive" else "slower" end),
    "better": (if $cost then "cheaper" else "faster" end),
    "dead-heat": "dead heat", "not-enough-data": "undecided"}[.verdict]')
  if [[ -n $said ]]; then
    echo "$said"
  elif [[ -n $(field .b.failed) ]]; then
    echo failed
  else
    echo none
  fi
}

# Whether this process, or one above it, was started with a token. Whatever runs here can read that in /proc.
has_token() {
  local process=$$
  while [[ $process -gt 1 ]]; do
    if grep -zqsE '^DEADHEAT_(CI_)?TOKEN=.' "/proc/$process/environ"; then return 0; fi
    process=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$process/status" 2>/dev/null) || true
  done
  return 1
}

measure() {
  if has_token; then
    die 2 'this job has the token that comments, and the code that is measured could read it; give it only to the job that comments (docs/ci.md)'
  fi
  local github_output=${GITHUB_OUTPUT:-} summary=${GITHUB_STEP_SUMMARY:-}
  # What is measured has no use for them. It can still find the files.
  unset GITHUB_ACTION_PATH GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY
  : "${DEADHEAT_CI_START:?the command that starts the service is missing: set 'start'}"
  export DEADHEAT_CI_START DEADHEAT_CI_DIRECTORY=${DEADHEAT_CI_DIRECTORY:-.}
  plain_name
  local threshold=${DEADHEAT_CI_FAIL_IF_SLOWER:-} cost=${DEADHEAT_CI_FAIL_IF_COSTLIER:-} must_decide=no
  if is_true require-decision "${DEADHEAT_CI_REQUIRE_DECISION:-}"; then must_decide=yes; fi
  need git jq

  local base head named=${DEADHEAT_CI_BASE:-}
  # GitHub merges a pull request into its base as that is now, and tells the base of the last push. Compared with that one,
  # the head would have the work of others, too. The merge has the right one: its first parent.
  if [[ -n $named && $named == "${DEADHEAT_CI_PULL_BASE:-}" &&
    $(git rev-parse --verify --quiet 'HEAD^2') == "${DEADHEAT_CI_PULL_HEAD:-}" ]]; then
    named=$(git rev-parse --verify 'HEAD^1')
  fi
  base=$(commit_of "$named")
  head=$(git rev-parse --verify 'HEAD^{commit}')
  # For the trap, which runs when this function has ended.
  folder=${DEADHEAT_CI_FOLDER:-$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/deadheat-XXXXXX")}
  mkdir -p "$folder/trees"
  folder=$(cd "$folder" && pwd)
  local deadheat=${DEADHEAT_CI_BINARY:-}
  if [[ -z $deadheat ]]; then
    deadheat=$(install_release "$folder")
  elif [[ $deadheat == */* ]]; then
    deadheat=$(realpath -- "$deadheat")
  fi
  note "$("$deadheat" --version), $base (A, base) against $head (B, head)"

  trap remove_trees EXIT
  local side commit
  for side in base head; do
    commit=${!side}
    git worktree add --quiet --force --detach "$folder/trees/$side" "$commit"
    cat >"$folder/$side" <<'START'
#!/usr/bin/env bash
cd "${0%/*}/trees/${0##*/}/$DEADHEAT_CI_DIRECTORY" && exec bash -c "$DEADHEAT_CI_START"
START
    chmod +x "$folder/$side"
    [[ -d $folder/trees/$side/$DEADHEAT_CI_DIRECTORY ]] ||
      die 2 "$side ($commit) has no folder '$DEADHEAT_CI_DIRECTORY'"
    if [[ -n ${DEADHEAT_CI_BUILD:-} ]]; then
      note "building $side"
      (cd "$folder/trees/$side/$DEADHEAT_CI_DIRECTORY" && bash -euo pipefail -c "$DEADHEAT_CI_BUILD") >&2 ||
        die 1 "building $side ($commit) failed"
    fi
  done

  local options=() option
  while IFS= read -r option; do
    if [[ -n $option ]]; then options+=("$option"); fi
  done <<<"${DEADHEAT_CI_OPTIONS:-}"
  if [[ -n ${DEADHEAT_CI_BUDGET:-} ]]; then options+=("--budget=$DEADHEAT_CI_BUDGET"); fi
  if [[ -n $threshold ]]; then options+=("--fail-if-slower=$threshold"); fi
  if [[ -n $cost ]]; then options+=("--fail-if-costlier=$cost"); fi
  if [[ $must_decide == yes ]]; then options+=(--require-decision); fi
  # What the report calls the two sides.
  local into=${GITHUB_BASE_REF:-${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-}} change='this commit'
  if [[ -n ${GITHUB_BASE_REF:-} ]]; then
    change='this pull request'
  elif [[ -n $into ]]; then
    change='this merge request'
  fi
  # Another base than the request's own is not the branch that it goes into. A whole commit is cut.
  if [[ ${DEADHEAT_CI_BASE:-} != "${DEADHEAT_CI_PULL_BASE:-${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}}" ]]; then
    into=${DEADHEAT_CI_BASE:-}
    if [[ $into =~ ^[0-9a-f]{40,64}$ ]]; then into=; fi
  fi
  options+=("--base=${into:-${base:0:10}}" "--change=$change")
  # The verdict is what this call prints. Files in the folder could be of anybody who ran here before.
  local status=0 report
  rm -rf -- "$folder"/report.{json,md,txt} "$folder/outputs"
  # It runs where the job does, because options may name files of the checkout.
  report=$("$deadheat" compare "cmd:$(quoted "$folder/base")" "cmd:$(quoted "$folder/head")" \
    "--path=${DEADHEAT_CI_PATH:-/}" --results "$folder/results" --no-config --json \
    --output "$folder/report.md" --output "$folder/report.txt" "${options[@]}") || status=$?
  if [[ -n $report ]]; then printf '%s\n' "$report" >"$folder/report.json"; fi

  local found
  found=$(verdict)
  output verdict "$found"
  local throughput='first(.compared[0].ratios[]? | select(.metric == "throughput"))'
  output ratio "$(field "$throughput.ratio")"
  output low "$(field "$throughput.interval.low")"
  output high "$(field "$throughput.interval.high")"
  output base "$base"
  output head "$head"
  output folder "$folder"
  output artifact "$(artifact)"
  {
    printf '### Deadheat%s\n\n' "${DEADHEAT_CI_NAME:+: $DEADHEAT_CI_NAME}"
    cat "$folder/report.md" 2>/dev/null || echo 'Nothing could be compared. The log of this job says why.'
    printf '\nA is %s (base), B is %s (head).\n' "${base:0:10}" "${head:0:10}"
  } | tee -a ${summary:+"$summary"}

  case $found in
    failed) die 1 'the head failed, so there is nothing to compare' ;;
    none) die "$((status > 1 ? status : 3))" 'nothing could be compared' ;;
  esac
  if [[ $status -gt 1 ]]; then die "$status" "deadheat compare ended with exit status $status"; fi
  if [[ $status == 1 && -n $cost ]]; then
    die 1 'the head fails the check; the report says which bound it exceeds, or what is not excluded'
  elif [[ $status == 1 && $must_decide == yes && $found != slower && $found != 'more expensive' ]]; then
    die 1 'a slowdown is not excluded, and require-decision is true; a larger budget may exclude it'
  elif [[ $status == 1 && -n $threshold && $must_decide == no ]]; then
    die 1 "the head is slower by more than $threshold"
  elif [[ $status == 1 && $must_decide == yes ]]; then
    die 1 "the head is $found${threshold:+, and by more than $threshold, or that is not excluded}"
  elif [[ $status == 1 ]]; then
    # By a check that options ask for.
    die 1 'the head fails a check; the report says which'
  fi
}

# --- comment ---------------------------------------------------------------------------------------------------------

# Sends a request with the token, which is in no argument: those can be read by other processes.
api() {
  local method=$1 url=$2
  shift 2
  curl --fail --silent --show-error --max-time 60 --retry 2 --request "$method" --config <(printf '%s\n' "$credentials") \
    --header 'Content-Type: application/json' "$@" -- "$url"
}

# The own comment that begins with the marker, if there is one.
earlier_comment() {
  local list=$1 me=$2 marker=$3 page found
  for page in {1..50}; do
    found=$(api GET "$list?per_page=100&page=$page") || return
    if [[ $(jq length <<<"$found") == 0 ]]; then return; fi
    jq -r --arg me "$me" --arg marker "$marker" \
      'map(select((.body // "" | startswith($marker)) and (.user.login // .author.username) == $me)) | .[0].id // empty' \
      <<<"$found"
  done
}

# A file of the artifact, up to a length. A link could lead to a secret of this job.
untrusted() {
  local file=$folder/$1
  if [[ -f $file && ! -L $file && ! -L $folder ]]; then head -c 20000 -- "$file"; fi
}

# An output of `measure`, if it has the form that it should have.
measured() {
  local value
  value=$(untrusted outputs | sed -n "s/^$1=//p" | head -n 1) || true
  if [[ $value =~ ^($2)$ ]]; then printf '%s' "$value"; fi
}

# Text in which nothing is active, for a block of code: no mentions, links, pictures, HTML or commands of GitLab, nothing
# that ends the block, and no invisible characters. Lines begin with a space, and commands do not.
harmless() {
  jq --raw-input --slurp --raw-output 'gsub("`"; "\u0027")
    | [explode[] | select(. == 10 or (. >= 32 and . < 127) or (. >= 160 and . != 173
        and (. < 8203 or . > 8207) and (. < 8232 or . > 8238) and (. < 8288 or . > 8303)
        and . != 65279 and . < 917504))]
    | implode | sub("\\s+$"; "") | split("\n")[:200] | map(" " + .[:200]) | join("\n")'
}

# The comment. What `measure` wrote is only quoted.
comment_text() {
  local request='pull request' number='[0-9]+(\.[0-9]+)?(e-?[0-9]+)?' verdict ratio low high base head text
  local fence=$'\x60\x60\x60'
  if [[ -n ${GITLAB_CI:-} ]]; then request='merge request'; fi
  verdict=$(measured verdict 'faster|slower|cheaper|more expensive|dead heat|undecided|failed')
  ratio=$(measured ratio "$number") low=$(measured low "$number") high=$(measured high "$number")
  base=$(measured base '[0-9a-f]{40,64}') head=$(measured head '[0-9a-f]{40,64}')
  printf '<!-- deadheat %s -->\n### Deadheat%s\n\n' "$DEADHEAT_CI_NAME" "${DEADHEAT_CI_NAME:+: $DEADHEAT_CI_NAME}"
  case $verdict in
    faster) printf '✅ **This %s makes the service faster.**' "$request" ;;
    slower) printf '❌ **This %s makes the service slower.**' "$request" ;;
    cheaper) printf '✅ **This %s makes requests cheaper.**' "$request" ;;
    'more expensive') printf '❌ **This %s makes requests more expensive.**' "$request" ;;
    'dead heat') printf '✅ **Dead heat: this %s makes no difference that counts.**' "$request" ;;
    undecided) printf '⚖️ **Undecided: the effect of this %s is not known.**' "$request" ;;
    failed) printf '❌ **The service of this %s failed, so there is nothing to compare.**' "$request" ;;
    *) printf '⚠️ **Nothing could be compared.** The log of the job that measures says why.' ;;
  esac
  # Another metric may have decided.
  if [[ -n $ratio && -n $low && -n $high && $verdict == slower ]] && jq -ne --arg h "$high" '($h | tonumber) < 1' >/dev/null; then
    # The larger figure over the smaller one, so that nobody has to invert it.
    # shellcheck disable=SC2016 # these are variables of jq
    local turned='[$r, $h, $l] | map(tonumber | if . > 0 then 1 / . else empty end) | map(tostring) | join(" ")'
    read -r ratio low high < <(jq -nr --arg r "$ratio" --arg l "$low" --arg h "$high" "$turned") || true
    LC_ALL=C printf ' The base is %.3g× as fast (%.3g to %.3g).' "$ratio" "$low" "${high:-$low}"
  elif [[ -n $ratio && -n $low && -n $high ]]; then
    LC_ALL=C printf ' Its throughput is %.3g times that of the base (%.3g to %.3g).' "$ratio" "$low" "$high"
  fi
  printf '\n'
  text=$(untrusted report.txt | harmless)
  if [[ $text == *[![:space:]]* ]]; then printf '\n%stext\n%s\n%s\n' "$fence" "$text" "$fence"; fi
  printf '\n'
  if [[ -n $base && -n $head ]]; then printf 'A is %s (base), B is %s (head).\n' "${base:0:10}" "${head:0:10}"; fi
  printf 'The job that measured ran the code of this %s, which could have changed these figures.\n' "$request"
}

comment() {
  local folder=${DEADHEAT_CI_FOLDER:?the folder that 'measure' wrote is missing} request=${DEADHEAT_CI_REQUEST:-}
  local token=${DEADHEAT_CI_TOKEN:-} list update method me
  if [[ -z $request ]]; then
    note 'this is no pull or merge request, so there is nowhere to comment'
    return
  fi
  [[ $request =~ ^[0-9]+$ ]] || die 2 "the number of the request is '$request'"
  [[ -n $token ]] || die 2 'commenting needs a token (docs/ci.md)'
  need curl jq
  plain_name
  if [[ -n ${GITLAB_CI:-} ]]; then
    credentials="header = \"PRIVATE-TOKEN: $token\""
    list=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$request/notes
    update=$list method=PUT
    me=$(api GET "$CI_API_V4_URL/user" | jq -r .username) || me=
  else
    credentials="header = \"Authorization: Bearer $token\""
    local repository=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY
    list=$repository/issues/$request/comments
    update=$repository/issues/comments method=PATCH
    # The token of a workflow may not ask who it is.
    me=$(api GET "$GITHUB_API_URL/user" 2>/dev/null | jq -r .login) || me='github-actions[bot]'
  fi
  local text body marker earlier=
  text=$(comment_text)
  marker=${text%%$'\n'*}
  body=$(jq --null-input --arg body "$text" '{$body}')
  earlier=$(earlier_comment "$list" "$me" "$marker" | head -n 1) || true
  local target=("POST" "$list")
  if [[ -n $earlier ]]; then target=("$method" "$update/$earlier"); fi
  # Pull requests from forks have a token that may only read: that is no failure of the change.
  api "${target[@]}" --data-binary @- <<<"$body" >/dev/null ||
    note "commenting was refused; the job needs 'pull-requests: write', which forks cannot have (docs/ci.md)"
}

case ${1:-} in
  measure | comment | artifact) "$1" ;;
  *) die 2 'usage: compare.sh measure|comment|artifact (docs/ci.md)' ;;
esac
