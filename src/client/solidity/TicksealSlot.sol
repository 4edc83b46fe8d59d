// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealPayload} from "./TicksealPayload.sol";

/// The storage slot of a price:
///
///     value (128) | timestamp in ns (64) | round (32) | spread (16) | market status (8) | publishers (8)
library TicksealSlot {
    /// A stored price.
    struct Price {
        /// The price times 10^18.
        int128 value;
        /// The signed time.
        uint64 timestampNs;
        /// The number of the update of this asset, from 1; zero when there is no price.
        uint32 round;
        /// The spread of the inputs in millionths of the price, rounded up to 10; zero when the payload had none.
        uint32 spreadPpm;
        /// As in the payload: 255 for none.
        uint8 marketStatus;
        /// The number of publishers; zero when the payload had none.
        uint8 publishers;
    }

    uint256 private constant NS_PER_S = 1e9;
    /// A slot keeps spreads in steps of 10 millionths.
    uint256 private constant SPREAD_STEP_PPM = 10;
    uint32 internal constant SPREAD_PPM_MAX = 655_350;

    function pack(uint64 timestampNs, TicksealPayload.Entry memory entry, uint256 round) internal pure returns (uint256) {
        unchecked {
            uint256 steps = (uint256(entry.spreadPpm) + SPREAD_STEP_PPM - 1) / SPREAD_STEP_PPM;
            return (uint256(uint128(entry.value)) << 128) | (uint256(timestampNs) << 64) | (round << 32) | (steps << 16)
                | (uint256(entry.marketStatus) << 8) | entry.publishers;
        }
    }

    function unpack(uint256 slot) internal pure returns (Price memory) {
        unchecked {
            return Price({
                value: valueOf(slot),
                timestampNs: timestampNsOf(slot),
                round: roundOf(slot),
                spreadPpm: uint32(uint16(slot >> 16) * SPREAD_STEP_PPM),
                marketStatus: uint8(slot >> 8),
                publishers: uint8(slot)
            });
        }
    }

    function valueOf(uint256 slot) internal pure returns (int128) {
        return int128(int256(slot) >> 128);
    }

    function timestampNsOf(uint256 slot) internal pure returns (uint64) {
        return uint64(slot >> 64);
    }

    /// The signed time in seconds, rounded down.
    function timeSOf(uint256 slot) internal pure returns (uint256) {
        return timestampNsOf(slot) / NS_PER_S;
    }

    function roundOf(uint256 slot) internal pure returns (uint32) {
        return uint32(slot >> 32);
    }
}
