header_type ethernet_t {
    fields {
        dstAddr : 48;
    }
}
header ethernet_t ethernet;
parser start {
    extract(ethernet);
    return ingress;
}
/* expected
first_version_of_p4.p4:1:1: error: this program is written in P4_14, the first version of the language
    1 | header_type ethernet_t {
      | ^^^^^^^^^^^
   hint: this compiler is for P4_16; p4test --std p4-14 --pp new.p4 translates the program
*/
