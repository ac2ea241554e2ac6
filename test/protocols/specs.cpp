// What can be written as --protocol, and what a wrong one is answered with.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "protocols/protocol.hpp"
#include "support/scratch.hpp"

namespace wasp {
namespace {

const std::vector<std::string> names{"serial",   "bsp",    "backup", "asp",    "downpour", "ssp",
                                     "softsync", "consgd", "dynsgd", "dcasgd", "gapaware", "wasp",
                                     "localsgd", "slowmo", "bmuf",   "easgd",  "eamsgd",   "nosync",
                                     "dpsgd",    "adpsgd", "sgp",    "lsgd"};

/// The message that `spec` is refused with; it must be a usage error of one line.
std::string refusal(const std::string& spec) {
    try {
        protocol_facts(spec);
    } catch (const Error& error) {
        std::string message = error.what();
        EXPECT_EQ(error.code(), ExitCode::usage) << message;
        EXPECT_EQ(message.find('\n'), std::string::npos) << message;
        return message;
    }
    ADD_FAILURE() << "accepted '" << spec << "'";
    return {};
}

void refused_with(const std::string& spec, const std::vector<std::string>& parts) {
    const std::string message = refusal(spec);
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos)
            << "'" << spec << "' is answered with: " << message << "\nwithout: " << part;
}

TEST(ProtocolSpecs, Facts) {
    for (const auto& name : names) EXPECT_EQ(protocol_facts(name).name, name);
    const auto wasp = protocol_facts("wasp:period=inf,weight=poly,a=1.5,trigger=versions");
    EXPECT_TRUE(wasp.shares_weights);
    EXPECT_FALSE(wasp.full_shards);
    EXPECT_FALSE(wasp.own_initialisation);
    const auto nosync = protocol_facts("nosync");
    EXPECT_FALSE(nosync.shares_weights);
    EXPECT_TRUE(nosync.full_shards);
    EXPECT_FALSE(nosync.own_initialisation);
    const auto apart = protocol_facts("nosync:init=different,shards=disjoint");
    EXPECT_TRUE(apart.own_initialisation);
    EXPECT_FALSE(apart.full_shards);
}

TEST(ProtocolSpecs, WhoCanKeepMomentumAtTheServer) {
    for (const char* name : {"serial", "bsp", "backup", "asp", "downpour", "ssp", "softsync",
                             "consgd", "dynsgd", "dcasgd", "gapaware", "wasp"})
        EXPECT_TRUE(protocol_facts(name).server_momentum) << name;
    for (const char* name : {"localsgd", "slowmo", "bmuf", "easgd", "eamsgd", "nosync", "dpsgd",
                             "adpsgd", "sgp", "lsgd"})
        EXPECT_FALSE(protocol_facts(name).server_momentum) << name;
}

TEST(ProtocolSpecs, EveryValueThatTheHelpNamesIsAccepted) {
    for (const char* spec : {"wasp:weight=inverse",
                             "wasp:weight=inverse1",
                             "wasp:weight=poly",
                             "wasp:weight=hinge",
                             "wasp:weight=hinge,a=1,b=2",
                             "wasp:weight=bound",
                             "wasp:weight=bound,B=3",
                             "wasp:weight=exp,a=0.2",
                             "wasp:weight=drop,R=8",
                             "wasp:weight=drop,R=inf",
                             "wasp:weight=concurrency",
                             "wasp:weight=constant",
                             "wasp:weight=mean",
                             "wasp:weight=table,table=test/golden/weights.txt",
                             "wasp:table=test/golden/weights.txt",
                             "wasp:period=1",
                             "wasp:period=inf",
                             "wasp:trigger=iterations",
                             "asp:scale=1",
                             "asp:scale=mean",
                             "ssp:S=0",
                             "ssp:S=3,servers=2",
                             "nosync:p=0",
                             "nosync:p=1",
                             "nosync:p=0.5..0.01",
                             "nosync:tau=1,target=best",
                             "nosync:target=random",
                             "nosync:target=weighted",
                             "nosync:apply=velocity",
                             "nosync:exchange=sendrecv",
                             "nosync:max_age=100,ema=0",
                             "backup:b=0",
                             "downpour:n_push=1,n_fetch=7",
                             "softsync:n=1",
                             "softsync:n=inf,servers=1",
                             "consgd:S=0",
                             "dynsgd:S=5",
                             "dcasgd:l0=1,m=0.9",
                             "dcasgd:lambda=constant,l=0.1",
                             "gapaware:r=0.9",
                             "wasp:node_sum=on",
                             "dynsgd:node_sum=off",
                             "nosync:groups=2",
                             "nosync:groups=2,inner=wasp:period=5+weight=mean,tau=4",
                             "localsgd:H=1,post=100",
                             "localsgd:velocity=mean",
                             "slowmo:beta=0,alpha=0.5,velocity=reset",
                             "bmuf:H=10",
                             "easgd:tau=1,beta=1,servers=1",
                             "eamsgd:mu=0.9",
                             "adpsgd:graph=complete",
                             "lsgd:tau=4,p=0.5..0.1,ema=0"})
        EXPECT_NO_THROW(protocol_facts(spec)) << spec;
}

TEST(ProtocolSpecs, UnknownNamesAreAnsweredWithTheNearest) {
    refused_with("wsap", {"unknown protocol 'wsap'", "did you mean 'wasp'", "nosync"});
    refused_with("nosink", {"did you mean 'nosync'"});
    refused_with("zzzzzz", {"unknown protocol", "known: serial, bsp, backup, asp"});
    refused_with("wasp:perod=3", {"'perod'", "did you mean 'period'"});
    refused_with("wasp:wieght=inverse", {"did you mean 'weight'"});
    refused_with("wasp:weight=invers", {"'invers'", "did you mean 'inverse'"});
    refused_with("wasp:trigger=version", {"did you mean 'versions'"});
    refused_with("asp:scale=maen", {"did you mean 'mean'"});
    refused_with("nosync:taget=best", {"did you mean 'target'"});
    refused_with("nosync:apply=posision", {"did you mean 'position'"});
}

TEST(ProtocolSpecs, KeysOfAnotherChoiceAreUnknown) {
    refused_with("wasp:a=2", {"'a'"});  // weight is inverse, which has no a
    refused_with("wasp:weight=poly,b=2", {"'b'"});
    refused_with("wasp:weight=mean,R=2", {"'R'"});
    refused_with("wasp:weight=mean,table=test/golden/weights.txt", {"'table'"});
    refused_with("serial:period=2", {"takes no keys"});
    refused_with("bsp:servers=1", {"takes no keys"});
    refused_with("ssp:weight=mean", {"'weight'", "known: S, servers, node_sum"});
}

TEST(ProtocolSpecs, ValuesOutsideTheirRange) {
    refused_with("wasp:period=0", {"period='0'", "from 1 to inf"});
    refused_with("wasp:period=-5", {"period='-5'"});
    refused_with("wasp:period=2.5", {"period='2.5'", "whole number"});
    refused_with("wasp:period=1e3", {"period='1e3'", "whole number"});
    refused_with("wasp:period=99999999999999999999", {"period="});
    refused_with("wasp:weight=poly,a=-1", {"a='-1'", "from 0 to 100"});
    refused_with("wasp:weight=poly,a=nan", {"a='nan'"});
    refused_with("wasp:weight=bound,B=0", {"B='0'"});
    refused_with("wasp:weight=drop,R=0", {"R='0'"});
    refused_with("ssp:S=-1", {"S='-1'"});
    refused_with("ssp:S=x", {"S='x'"});
    refused_with("asp:servers=-1", {"servers='-1'"});
    refused_with("nosync:tau=0", {"tau='0'"});
    refused_with("nosync:p=1.5", {"p='1.5'", "from 0 to 1"});
    refused_with("nosync:p=0.1..2", {"p='0.1..2'"});
    refused_with("nosync:p=0.1..", {"p='0.1..'"});
    refused_with("nosync:p=..", {"p='..'"});
    refused_with("nosync:ema=1", {"ema='1'"});
    refused_with("backup:b=-1", {"b='-1'"});
    refused_with("downpour:n_push=0", {"n_push='0'"});
    refused_with("softsync:n=0", {"n='0'"});
    refused_with("dcasgd:m=1", {"m='1'"});
    refused_with("dcasgd:l=0.1", {"'l'"});
    refused_with("wasp:servers=1,node_sum=on", {"contradict"});
    refused_with("nosync:groups=2,inner=nosync", {"shared weights"});
    refused_with("nosync:groups=2,inner=asp:servers=1", {"no servers"});
    refused_with("nosync:groups=2,inner=wsap", {"did you mean 'wasp'"});
    refused_with("nosync:groups=2,apply=velocity", {"apply=velocity"});
    refused_with("localsgd:H=0", {"H='0'"});
    refused_with("slowmo:beta=1", {"beta='1'"});
    refused_with("easgd:beta=1.1", {"beta='1.1'"});
    refused_with("eamsgd:mu=1", {"mu='1'"});
}

TEST(ProtocolSpecs, MalformedTwiceAndMissing) {
    for (const char* spec : {"", ":", ":period=3", "wasp:", "wasp:period", "wasp:period=",
                             "wasp:=3", "wasp:period=3,", "wasp:,period=3", "wasp::period=3"})
        refusal(spec);
    refused_with("wasp:period=3,period=3", {"'period' is given twice"});
    refused_with("wasp:weight=drop", {"drop needs R="});
    refused_with("wasp:weight=table", {"table needs table="});
}

TEST(ProtocolSpecs, TablesOfWeightsAreReadStrictly) {
    const test::Scratch scratch;
    const auto path = (scratch.path() / "weights.txt").string();
    const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
        std::ofstream(path, std::ios::binary) << text;
        refused_with("wasp:table=" + path, parts);
    };
    refused("", {"empty"});
    refused("1\n\n0.5\n", {"line 2"});
    refused("1\n0.5 0.3\n", {"line 2", "'0.5 0.3'"});
    refused("1\nhalf\n", {"line 2", "'half'"});
    refused("1\n-0.5\n", {"line 2", "from 0 to"});
    refused("1\nnan\n", {"line 2"});
    refused("1\r\n0.5\r\n", {"line 1"});
    refused("1\n" + std::string(1000, '0') + "\n", {"line 2"});
    refused(std::string("1\n0\0.5\n", 7), {"line 2"});
    refused_with("wasp:table=" + path + ".absent", {"no such file", ".absent"});
    refused_with("wasp:table=" + scratch.path().string(), {"not an ordinary file"});
    refused_with("wasp:table=/dev/zero", {"not an ordinary file"});
    std::ofstream(path) << "1\n0.25";  // the last line needs no end
    EXPECT_NO_THROW(protocol_facts("wasp:table=" + path));
}

TEST(ProtocolSpecs, Teams) {
    const auto facts = protocol_facts("wasp:servers=1");
    EXPECT_EQ(facts.servers, 1);
    EXPECT_EQ(facts.team(0, 3).workers, 2);
    EXPECT_EQ(facts.team(0, 3).worker, std::nullopt);
    EXPECT_EQ(facts.team(1, 3).worker, 0);
    EXPECT_EQ(facts.team(2, 3).worker, 1);
    EXPECT_EQ(protocol_facts("wasp").team(2, 3).worker, 2);
    EXPECT_EQ(protocol_facts("nosync:groups=2").team(3, 4).workers, 4);
    EXPECT_THROW(protocol_facts("nosync:groups=2").team(0, 3), Error);
    try {
        const auto team = protocol_facts("wasp:servers=3").team(0, 3);
        ADD_FAILURE() << "a team of " << team.workers;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
        EXPECT_STREQ(error.what(), "wasp: 3 servers leave no worker on 3 ranks; use fewer servers");
    }
}

TEST(ProtocolSpecs, HelpHasEveryProtocolKeyAndSource) {
    const std::string help = protocol_help();
    for (const auto& name : names) EXPECT_NE(help.find("\n" + name + " "), std::string::npos);
    for (const char* part : {"period=50",
                             "weight=inverse",
                             "trigger=iterations",
                             "servers=0",
                             "S=3",
                             "scale=1",
                             "tau=16",
                             "H=8",
                             "H=48",
                             "beta=0.875",
                             "mu=0.99",
                             "graph=ring",
                             "velocity=keep",
                             "p=0.01..0.5",
                             "max_age=inf",
                             "target=mean",
                             "reconstruction",
                             "10.1007/978-3-030-05054-2_32",
                             "10.1007/978-3-030-01421-6_58",
                             "Ho et al. 2013"})
        EXPECT_NE(help.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace wasp
