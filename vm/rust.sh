# Makes `cargo` of the pinned toolchain available to the calling script. To be sourced.
# The toolchain's version stands in rust-toolchain.toml; any Rust at least that new will do.
# Nothing is downloaded without a yes: the answer to a question, or RUST_INSTALL=yes.
#
# VITRINE_RUSTUP_URL names another place of rustup's installer (used by the tests).
. vm/say.sh

rust_wanted=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)

# The version of the Rust that runs here, or nothing. rustup's own proxies would start a download
# when the pinned toolchain is missing; that must wait for the yes.
rust_found() {
    RUSTUP_AUTO_INSTALL=0 cargo --version >/dev/null 2>&1 &&
        RUSTUP_AUTO_INSTALL=0 rustc --version 2>/dev/null | cut -d' ' -f2
}

rust_is_new_enough() {
    local found
    found=$(rust_found) || return 1
    [ "$(printf '%s\n%s\n' "$rust_wanted" "$found" | sort -V | head -n 1)" = "$rust_wanted" ]
}

rust_ask() {
    local problem="Rust $rust_wanted or newer is needed and "
    if found=$(rust_found); then problem+="only $found is installed"; else problem+="is not installed"; fi
    [ "${RUST_INSTALL:-}" != yes ] || return 0
    [ -t 0 ] && [ -z "${CI:-}" ] ||
        fail "$problem: run the command again with RUST_INSTALL=yes to install it with rustup, or install it yourself."
    printf '[vitrine] %s. Install it with rustup into %s? [y/N] ' "$problem" "${CARGO_HOME:-$HOME/.cargo}" >&2
    read -r answer
    case $answer in
        y | Y | yes | Yes) ;;
        *) fail "$problem: install it yourself, or say yes, then run the command again." ;;
    esac
}

rust_install() {
    local url=${VITRINE_RUSTUP_URL:-https://sh.rustup.rs}
    step "Installing Rust $rust_wanted with rustup"
    if ! command -v rustup >/dev/null; then
        mkdir -p build/log
        curl --proto '=https' --tlsv1.2 --silent --show-error --fail --max-time 120 \
            --output build/rustup-init.sh "$url" 2>build/log/rust.log &&
            quietly build/log/rust.log sh build/rustup-init.sh -y --no-modify-path \
                --default-toolchain none --profile minimal ||
            fail "rustup's installer at $url cannot be reached or did not run (see build/log/rust.log): install Rust $rust_wanted yourself, then run the command again."
    fi
    quietly build/log/rust.log rustup toolchain install "$rust_wanted" --profile minimal \
        --component rustfmt --component clippy ||
        fail "rustup could not fetch Rust $rust_wanted (see build/log/rust.log): check the network, or install it yourself, then run the command again."
}

# rustup puts its programs here, and only a new login would have them on its path.
export PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
if ! rust_is_new_enough; then
    rust_ask
    rust_install
    rust_is_new_enough ||
        fail "Rust $rust_wanted was installed, but another cargo comes first on the path ($(command -v cargo || echo none)): remove it or put rustup's first."
fi
