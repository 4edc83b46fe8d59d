// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

import {TicksealFeed} from "tickseal-client/contracts/TicksealFeed.sol";
import {TicksealPrices} from "tickseal-client/contracts/TicksealPrices.sol";
import {TicksealReader} from "tickseal-client/contracts/TicksealReader.sol";
import {Lender} from "../src/Lender.sol";
import {vm} from "../src/Vm.sol";

/// Example tests, without a fork: a test key signs payloads, as the service does.
contract LenderTest {
    uint256 private constant KEY = 0xA11CE;
    uint256 private constant NOW_S = 1_800_000_000;
    uint16 private constant TAXONOMY = 1;
    uint16 private constant BTC = 1;

    TicksealReader private reader;
    TicksealFeed private feed;
    Lender private lender;

    function setUp() public {
        vm.warp(NOW_S);
        address[] memory signers = new address[](1);
        signers[0] = vm.addr(KEY);
        TicksealPrices.Terms memory terms = TicksealPrices.Terms({
            needsMarketStatus: false,
            maxInputAgeMs: 0,
            maxSpreadPpm: 0,
            maxQuoteAgeS: 3_600,
            rounds: 1
        });
        reader = new TicksealReader(TAXONOMY, 60, 30, signers, terms);
        feed = new TicksealFeed(reader, BTC, 8, 3_600, "BTC / USD");
        // A reader is a verifier too.
        lender = new Lender(reader, BTC);
    }

    function test_LenderTakesANewerPayload() public {
        lender.update(payloadOf(KEY, NOW_S, 95_000e18));
        require(lender.price() == 95_000e18, "price");
        try lender.update(payloadOf(KEY, NOW_S - 1, 1e18)) {
            revert("an older payload");
        } catch {}
    }

    function test_FeedAnswersAsChainlinkDoes() public {
        reader.update(payloadOf(KEY, NOW_S - 5, 95_000e18));
        (uint80 round, int256 answer,, uint256 updatedAt, uint80 answeredIn) = feed.latestRoundData();
        require(answer == 95_000e8 && updatedAt == NOW_S - 5, "answer");
        require(round == 1 && answeredIn == 1, "round");
        vm.warp(NOW_S + 3_596);
        require(feed.latestAnswer() == 0, "too old");
    }

    function test_NobodyElseSetsAPrice() public {
        try reader.update(payloadOf(0xB0B, NOW_S, 1e18)) {
            revert("a stranger's payload");
        } catch {}
    }

    /// Returns a payload of the simplified layout.
    function payloadOf(uint256 key, uint256 timeS, int128 value) private pure returns (bytes memory) {
        bytes memory body = abi.encodePacked(TAXONOMY, uint64(timeS * 1e9), BTC, value);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, keccak256(body));
        return bytes.concat(r, s, bytes1(v - 27), body);
    }
}
