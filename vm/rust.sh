# Makes `cargo` of the pinned toolchain available to the calling script. To be sourced.
# The toolchain's version stands in rust-toolchain.toml; any Rust at least that new will do.
# Nothing is downloaded without a yes: the answer to a question, or RUST_INSTALL=yes.
#
# The distributions' own: Debian 12 has Rust 1.63, Debian 13 1.85, Ubuntu 22.04 up to 1.91 and Ubuntu
# 24.04 1.75 as `cargo`, all too old; but also, in its updates, `rustc-1.97` and `cargo-1.97`, which are
# found here where rustup cannot be had.
. vm/say.sh
. vm/distribution.sh
. vm/versions.env

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

# The installer is a program of one file, fetched in the version that is pinned and compared with the
# sum that is pinned, so nothing else is ever run.
rust_fetch_installer() {
    local url=$1 sum=RUSTUP_SHA256_$architecture
    [ -n "${!sum:-}" ] || { echo "there is no rustup for $architecture here" && return 1; }
    curl --proto '=https' --tlsv1.2 --silent --show-error --fail --location --max-time 120 \
        --output build/rustup-init "$url" &&
        echo "${!sum}  build/rustup-init" | sha256sum --check --quiet &&
        chmod +x build/rustup-init
}

rust_install() {
    local url=${VITRINE_RUSTUP_URL:-$RUSTUP_ROOT/archive/$RUSTUP_VERSION/$(uname -m)-unknown-linux-gnu/rustup-init}
    step "Installing Rust $rust_wanted with rustup"
    if ! command -v rustup >/dev/null; then
        mkdir -p build/log
        quietly build/log/rust.log rust_fetch_installer "$url" &&
            quietly build/log/rust.log build/rustup-init -y --no-modify-path --default-toolchain none --profile minimal ||
            fail "rustup's installer at $url cannot be reached or did not run (see build/log/rust.log): install Rust $rust_wanted yourself (on Ubuntu 24.04: apt install rustc-1.97 cargo-1.97), then run the command again."
    fi
    quietly build/log/rust.log rustup toolchain install "$rust_wanted" --profile minimal \
        --component rustfmt --component clippy ||
        fail "rustup could not fetch Rust $rust_wanted (see build/log/rust.log): check the network, or install it yourself, then run the command again."
}

# rust_choose: puts a Rust that is new enough first on the path: the one that is there already, else
# rustup's, which only a new login would have on its path, else what a distribution keeps beside its
# own older one.
rust_choose() {
    local folder
    for folder in "" "${CARGO_HOME:-$HOME/.cargo}/bin" /usr/lib/rust-*/bin; do
        export PATH=${folder:+$folder:}$rust_path
        ! rust_is_new_enough || return 0
    done
    # Without any, the installer must still find the rustup that is there.
    export PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$rust_path
    return 1
}

rust_path=$PATH
if ! is_there rust_choose && ! would "install Rust $rust_wanted with rustup $RUSTUP_VERSION into ${CARGO_HOME:-$HOME/.cargo}"; then
    rust_ask
    rust_install
    rust_choose || fail "Rust $rust_wanted was installed, and $(command -v cargo || echo no cargo) is not it: see build/log/rust.log."
fi
