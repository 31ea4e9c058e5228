// The dumbbell of switch/crates/sim/benches/world.rs in ns-3: CUBIC flows, each between two hosts of
// its own, through two routers. Prints packets that crossed the bottleneck and the CPU time it took.
//
//   left n -- 10 x rate --+                                  +-- 10 x rate -- right n
//                         s1 == rate, 10 ms, drop-tail queue == s2
//
// What differs from ours: ns-3 forwards by its own tables, without a P4 program; frames have PPP's
// two bytes in front instead of Ethernet's fourteen.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace
{

// As in ours: until slow start is over and the queue has its shape.
const Time WARM_UP = Seconds(3);
const uint16_t PORT = 5001;

uint64_t g_packets = 0;
uint64_t g_bytes = 0;

void
CountCarried(Ptr<const Packet> packet)
{
    g_packets++;
    g_bytes += packet->GetSize();
}

double
CpuSeconds()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

// Both devices of a cable, with addresses in a network of their own and no queue above the card's.
NetDeviceContainer
Join(Ptr<Node> one, Ptr<Node> other, uint64_t bps, Time delay, uint32_t queuePackets,
     Ipv4AddressHelper& addresses, Ipv4InterfaceContainer& interfaces)
{
    PointToPointHelper cable;
    cable.SetDeviceAttribute("DataRate", DataRateValue(DataRate(bps)));
    cable.SetChannelAttribute("Delay", TimeValue(delay));
    cable.SetQueue("ns3::DropTailQueue<Packet>",
                   "MaxSize",
                   QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queuePackets)));
    NetDeviceContainer devices = cable.Install(one, other);
    interfaces = addresses.Assign(devices);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(devices);
    return devices;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 10;
    uint64_t mbps = 100;
    double seconds = 10;
    CommandLine arguments(__FILE__);
    arguments.AddValue("flows", "how many", flows);
    arguments.AddValue("mbps", "of the bottleneck", mbps);
    arguments.AddValue("seconds", "of virtual time to measure", seconds);
    arguments.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(32 << 20));

    NodeContainer routers(2);
    NodeContainer left(flows);
    NodeContainer right(flows);
    InternetStackHelper stack;
    stack.InstallAll();

    const uint64_t rate = mbps * 1000000;
    // One bandwidth-delay product: 20 ms of packets of 1514 bytes.
    const uint32_t queue = rate / 50 / (1514 * 8);
    Ipv4InterfaceContainer ends;
    Ipv4AddressHelper between("10.0.0.0", "255.255.255.0");
    NetDeviceContainer bottleneck =
        Join(routers.Get(0), routers.Get(1), rate, MilliSeconds(10), queue, between, ends);
    bottleneck.Get(0)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&CountCarried));
    Ipv4AddressHelper leftAddresses("10.1.0.0", "255.255.255.0");
    Ipv4AddressHelper rightAddresses("10.2.0.0", "255.255.255.0");
    for (uint32_t n = 0; n < flows; n++)
    {
        Join(left.Get(n), routers.Get(0), 10 * rate, Time(0), 10000, leftAddresses, ends);
        Join(right.Get(n), routers.Get(1), 10 * rate, Time(0), 10000, rightAddresses, ends);
        const Address there = InetSocketAddress(ends.GetAddress(0), PORT);
        PacketSinkHelper("ns3::TcpSocketFactory", there).Install(right.Get(n));
        BulkSendHelper sender("ns3::TcpSocketFactory", there);
        sender.SetAttribute("MaxBytes", UintegerValue(0));
        sender.Install(left.Get(n)).Start(MilliSeconds(10 * n));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(WARM_UP);
    Simulator::Run();
    const uint64_t packets = g_packets;
    const uint64_t bytes = g_bytes;
    const double start = CpuSeconds();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const double cpu = CpuSeconds() - start;
    std::printf("{\"flows\": %u, \"mbps\": %lu, \"packets\": %lu, \"cpu_s\": %.4f, "
                "\"utilisation\": %.4f}\n",
                flows,
                mbps,
                g_packets - packets,
                cpu,
                (g_bytes - bytes) * 8.0 / (rate * seconds));
    Simulator::Destroy();
    return 0;
}
