# Which world labs, prompts and tests run in: the live one (Linux hosts, which need root and network
# namespaces) or the virtual one (one process, virtual time), behind vm/say.sh.
# To be sourced.

# choose_world: sets WORLD if it is unset: to live where this machine can, and else to virtual.
# `why_virtual` is then the reason, half a sentence.
choose_world() {
    why_virtual=
    [ -z "${WORLD:-}" ] || return 0
    local said
    if said=$(vm/privilege.sh 2>&1); then
        export WORLD=live
        return
    fi
    export WORLD=virtual
    said=${said##*Cannot go on: }
    # The remedy comes after the last colon.
    why_virtual=${said%: *}
}

# say_world: reports why the world is the virtual one, if it was not chosen.
say_world() {
    [ -z "$why_virtual" ] || step "This runs in the virtual world: $why_virtual."
}
