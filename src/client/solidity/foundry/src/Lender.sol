// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPayload} from "tickseal-client/contracts/TicksealPayload.sol";
import {TicksealVerifier} from "tickseal-client/contracts/TicksealVerifier.sol";

contract Lender {
    TicksealVerifier public immutable verifier;
    uint16 public immutable assetId;
    uint64 public lastTimestampNs;
    int128 public price;

    constructor(TicksealVerifier verifier_, uint16 assetId_) {
        verifier = verifier_;
        assetId = assetId_;
    }

    /// Reverts unless a signer of the verifier signed the payload, and it is young and newer than the last one.
    function update(bytes calldata payload) external {
        (uint64 timestampNs, TicksealPayload.Entry memory entry) = verifier.priceOf(payload, assetId);
        require(timestampNs > lastTimestampNs, "older than the last one");
        (lastTimestampNs, price) = (timestampNs, entry.value);
    }
}
