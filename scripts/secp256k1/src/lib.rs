//! A current libsecp256k1 as a shared library, for machines whose own is older: the functions that the service calls, under the names
//! of the C library. They come from the crate `secp256k1-sys`, which compiles the C source.
//!
//! A signature hashes 22 blocks with SHA-256 to find its nonce (RFC 6979), which takes the library's own C a third of the time of the
//! signature. The crate `sha2` does it with the instructions that most processors have for it.

use secp256k1_sys::recovery::{self, RecoverableSignature};
use secp256k1_sys::types::{c_int, c_uchar, c_uint, c_void};
use secp256k1_sys::{self as library, Context, NonceFn, PublicKey};
use std::ptr::NonNull;

extern "C" {
    /// The crate has no binding for it. The library first compares what the function computes with known hashes.
    #[link_name = "rustsecp256k1_v0_14_context_set_sha256_compression"]
    fn set_sha256_compression(
        context: NonNull<Context>,
        compress: unsafe extern "C" fn(*mut [u32; 8], *const c_uchar, usize),
    );
}

/// # Safety
/// `blocks` has 64 bytes for each of `count`.
unsafe extern "C" fn compress(state: *mut [u32; 8], blocks: *const c_uchar, count: usize) {
    sha2::compress256(&mut *state, std::slice::from_raw_parts(blocks.cast(), count));
}

/// # Safety
/// As the function of the C library.
#[no_mangle]
pub unsafe extern "C" fn secp256k1_context_create(flags: c_uint) -> NonNull<Context> {
    let context = library::secp256k1_context_create(flags);
    set_sha256_compression(context, compress);
    context
}

/// Exports functions of the C library as they are.
macro_rules! export {
    ($($from:ident::$name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As the function of the C library.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            $from::$name($($argument),*)
        }
    )*};
}

export! {
    library::secp256k1_context_randomize(context: NonNull<Context>, seed32: *const c_uchar);
    library::secp256k1_ec_pubkey_create(context: *const Context, out: *mut PublicKey, key32: *const c_uchar);
    library::secp256k1_ec_pubkey_serialize(
        context: *const Context, out: *mut c_uchar, length: *mut usize, key: *const PublicKey, form: c_uint
    );
    recovery::secp256k1_ecdsa_sign_recoverable(
        context: *const Context, out: *mut RecoverableSignature, digest32: *const c_uchar, key32: *const c_uchar,
        nonce: NonceFn, data: *const c_void
    );
    recovery::secp256k1_ecdsa_recoverable_signature_serialize_compact(
        context: *const Context, out64: *mut c_uchar, out_recovery: *mut c_int, signature: *const RecoverableSignature
    );
    recovery::secp256k1_ecdsa_recoverable_signature_parse_compact(
        context: *const Context, out: *mut RecoverableSignature, signature64: *const c_uchar, recovery: c_int
    );
    recovery::secp256k1_ecdsa_recover(
        context: *const Context, out: *mut PublicKey, signature: *const RecoverableSignature, digest32: *const c_uchar
    );
}
